/* What a segment needs of the Brotli encoder beyond its public functions. */

#ifndef BROTLI_SEGMENT_H_
#define BROTLI_SEGMENT_H_

#include <brotli/encode.h>

/* Makes an encoder, whose parameters are set and which has encoded nothing, go on with a stream at its byte offset,
 * which is not 0: it writes no stream header and does not use the distances of before. The length bytes of history are
 * those before offset; what it encodes refers to them as far back as the window reaches. With every_position, no
 * position of the history is left out where the encoder itself would save the time (levels 10 and 11). Levels 0 and 1
 * never refer to what another call encoded, so they ignore the history. Fails only for want of memory. */
BROTLI_BOOL BrotliSegmentContinue(BrotliEncoderState* state, uint64_t offset, const uint8_t* history, size_t length,
                                  BROTLI_BOOL every_position);

/* Whether the encoder could not get memory; then it is of no more use. */
BROTLI_BOOL BrotliSegmentOutOfMemory(const BrotliEncoderState* state);

#endif
