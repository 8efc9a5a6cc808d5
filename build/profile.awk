# Reads a dump of callgrind: what of the instructions is in the encoders, with all that they call, and where the rest is.
# https://valgrind.org/docs/manual/cl-format.html

function name(text,    id) {
    id = text
    sub(/ .*/, "", id)
    if (text ~ / /) {
        sub(/^[^ ]* /, "", text)
        names[id] = text
    }
    return names[id]
}

function file(text) { return text ~ / / ? name("f" text) : names["f" text] }

# By the folder of its source.
function is_encoder(function_name) { return files[function_name] ~ /(brotli|zstd)\/(c|lib)\/|brotli_segment\.c$/ }

/^desc: Trigger:/ { what = $0; sub(/.*: /, "", what) }
/^fl=/ { own = file(substr($0, 4)) }
/^fn=/ { caller = name(substr($0, 4)); files[caller] = own }
/^c(fi|fl)=/ { other = file(substr($0, 5)) }
/^cfn=/ { callee = name(substr($0, 5)); files[callee] = other == "" ? own : other }
/^calls=/ { is_call = 1; other = ""; next }
/^[0-9+*-]/ {
    if (is_call) {
        from_all[callee] += $2
        if (is_encoder(caller)) from_encoder[callee] += $2
        else if (is_encoder(callee)) inside += $2
        is_call = 0
    } else {
        self[caller] += $2
        total += $2
    }
}

END {
    printf "%s: %.1f million instructions, %.2f %% outside of the encoder\n", what, total / 1e6, 100 * (total - inside) / total
    for (f in self) {
        if (is_encoder(f)) continue
        # What the encoders call too counts by the share of the others.
        share = from_all[f] ? 1 - from_encoder[f] / from_all[f] : 1
        if (self[f] * share > total / 10000) {
            printf "  %5.2f %%  %s\n", 100 * self[f] * share / total, f | "sort -rn"
        }
    }
    close("sort -rn")
}
