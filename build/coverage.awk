# Makes a table of the lines that ran from an lcov file. Variables: `root` is the directory of the project with its
# slash, `bars` has words such as "src=85", and `part` is set if only some of the tests ran.

# The first line of a file's unit tests, which are at its end.
function first_test(file,    line, number) {
    while ((getline line <file) > 0) {
        number++
        if (line == "#[cfg(test)]") {
            close(file)
            return number
        }
    }
    close(file)
    return number + 1
}

function row(name) {
    return sprintf("%6.1f %6d %6d  %s", 100 * ran[name] / lines[name], ran[name], lines[name], name)
}

function count(name, times) {
    lines[name]++
    ran[name] += times > 0
}

/^SF:/ {
    file = substr($0, 4)
    name = substr(file, length(root) + 1)
    # The hooks are for tests.
    end = name == "src/hooks.rs" ? 0 : first_test(file)
}

/^DA:/ {
    split(substr($0, 4), field, ",")
    if (field[1] + 0 >= end)
        next
    folder = name
    sub("/[^/]*$", "/", folder)
    count(name, field[2])
    count(folder, field[2])
    count(name ~ /^core\// ? "core" : "src", field[2])
    if (field[2] == 0)
        missing[name] = missing[name] " " field[1]
}

END {
    print "     %    ran  lines  where, and the lines that did not run"
    for (name in lines)
        if (name ~ /\//)
            print row(name) missing[name] | "sort -k4,4"
    close("sort -k4,4")
    print ""
    for (i = split(bars, bar, " "); i > 0; i--) {
        split(bar[i], pair, "=")
        print row(pair[1]) ", all of it"
        if (!part && 100 * ran[pair[1]] < pair[2] * lines[pair[1]])
            failed = failed pair[1] ": fewer than " pair[2] " % of its lines ran\n"
    }
    printf "%s", failed
    exit failed != ""
}
