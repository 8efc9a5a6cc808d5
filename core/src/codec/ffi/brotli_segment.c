/* Lets a Brotli encoder begin in the middle of a stream. What that takes is private to the encoder, so this file
 * includes its main file, unmodified, and is compiled in its place. */

#include "encode.c"

#include "brotli_segment.h"

/* Two bytes make up the context of the next literal. */
#define CONTEXT_BYTES 2

/* Puts the history where the encoder keeps the bytes it has encoded, in pieces no larger than it would itself. */
static BROTLI_BOOL FillRingBuffer(BrotliEncoderState* s, const uint8_t* history, size_t length) {
  while (length > 0) {
    size_t piece = BROTLI_MIN(size_t, length, InputBlockSize(s));
    CopyInputToRingBuffer(s, piece, history);
    if (BROTLI_IS_OOM(&s->memory_manager_)) return BROTLI_FALSE;
    history += piece;
    length -= piece;
  }
  s->last_flush_pos_ = s->input_pos_;
  s->last_processed_pos_ = s->input_pos_;
  return BROTLI_TRUE;
}

/* Enters the history into the table that finds repetitions. The last positions, whose hash would take in bytes that
 * are not there yet, are left to the encoder: it enters them when it begins a block. */
static BROTLI_BOOL FillHasher(BrotliEncoderState* s, size_t length, BROTLI_BOOL every_position) {
  MemoryManager* m = &s->memory_manager_;
  Hasher* hasher = &s->hasher_;
  const uint8_t* data = s->ringbuffer_.buffer_;
  const size_t mask = s->ringbuffer_.mask_;
  size_t missing = 0;
  size_t i = 0;

  HasherSetup(m, hasher, &s->params, data, 0, length, BROTLI_FALSE);
  if (BROTLI_IS_OOM(m)) return BROTLI_FALSE;

  switch (hasher->common.params.type) {
#define FILL_(N)                                                               \
    case N:                                                                    \
      missing = StoreLookaheadH ## N() - 1;                                    \
      if (length <= missing) break;                                            \
      if (every_position) {                                                    \
        for (i = 0; i < length - missing; ++i) {                               \
          StoreH ## N(&hasher->privat._H ## N, data, mask, i);                 \
        }                                                                      \
      } else {                                                                 \
        StoreRangeH ## N(&hasher->privat._H ## N, data, mask, 0, length - missing); \
      }                                                                        \
      break;
    FOR_ALL_HASHERS(FILL_)
#undef FILL_
    default:
      break;
  }
  return BROTLI_TRUE;
}

BROTLI_BOOL BrotliSegmentContinue(BrotliEncoderState* s, uint64_t offset, const uint8_t* history, size_t length,
                                  BROTLI_BOOL every_position) {
  /* Larger offsets than the largest window make no difference. */
  const size_t most = (size_t)1 << BROTLI_MAX_WINDOW_BITS;
  const size_t at = offset < most ? (size_t)offset : most;
  size_t limit;

  /* This alone makes a valid continuation. Not knowing the bytes before it, the encoder spends a little block on the
   * first two bytes ("flint"), and refers to nothing before them. */
  s->params.stream_offset = at;
  if (!EnsureInitialized(s)) return BROTLI_FALSE;
  if (s->params.quality <= FAST_TWO_PASS_COMPRESSION_QUALITY || length < CONTEXT_BYTES) return BROTLI_TRUE;

  limit = BROTLI_MAX_BACKWARD_LIMIT(s->params.lgwin);
  if (length > limit) {
    history += length - limit;
    length = limit;
  }
  /* Positions count from the first byte of the history from now on. Only their sum with this matters, which tells
   * where the static dictionary begins, and that no further than the limit. */
  s->params.stream_offset = at > length ? BROTLI_MIN(size_t, at - length, limit) : 0;

  s->flint_ = BROTLI_FLINT_DONE;
  s->prev_byte_ = history[length - 1];
  s->prev_byte2_ = history[length - 2];
  return TO_BROTLI_BOOL(FillRingBuffer(s, history, length) && FillHasher(s, length, every_position));
}

BROTLI_BOOL BrotliSegmentOutOfMemory(const BrotliEncoderState* s) {
  return TO_BROTLI_BOOL(BROTLI_IS_OOM(&s->memory_manager_));
}
