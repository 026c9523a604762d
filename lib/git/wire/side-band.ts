/**
 * The side bands (gitprotocol-pack, "Packfile Data"): the first byte of a packet line is its band: 1 for the pack or
 * the report, 2 for progress, 3 for a fatal message.
 */
import { free, give } from './given-bytes.ts';
import { lengthOfPkt, MAX_PKT_DATA, pkt } from './pkt-line.ts';

export type Band = 1 | 2 | 3;

/** `side-band` allows packet lines of 1,000 bytes, `side-band-64k` of 65,520; `none` sends band 1 without framing. */
export type SideBand = 'none' | 'side-band' | 'side-band-64k';

const CAPACITY = { 'side-band': 1000 - 5, 'side-band-64k': MAX_PKT_DATA - 1 } as const;

/** `content` as packet lines on one band; without side bands only band 1 reaches the client. */
export function onBand(mode: SideBand, band: Band, content: string | Uint8Array): Uint8Array[] {
  const data = typeof content === 'string' ? Buffer.from(content) : content;
  if (mode === 'none') return band === 1 && data.length > 0 ? [data] : [];
  const capacity = CAPACITY[mode];
  const lines: Uint8Array[] = [];
  for (let at = 0; at < data.length; at += capacity) {
    const part = data.subarray(at, at + capacity);
    const framed = Buffer.allocUnsafe(part.length + 1);
    framed[0] = band;
    framed.set(part, 1);
    lines.push(pkt(framed));
  }
  return lines;
}

/** Bytes before those of a band: the length and the band. */
const HEAD = 5;
/** Bytes of one piece of output, of whole packet lines: fewer and larger pieces cost less to pass on. */
const PIECE = 256 * 1024;

/**
 * A stream of bytes as packet lines on band 1, in pieces of many lines. Each byte is copied once, into memory that is given
 * away with the piece; content that was given is freed.
 */
export async function* streamed(
  mode: SideBand,
  content: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array, void, undefined> {
  if (mode === 'none') {
    yield* content;
    return;
  }
  const capacity = CAPACITY[mode];
  const size = Math.floor(PIECE / (capacity + HEAD)) * (capacity + HEAD);
  let piece = Buffer.allocUnsafeSlow(size);
  /** Where the last line begins, and where its next byte goes. */
  let [line, at] = [0, HEAD];
  const endLine = () => {
    piece.write(lengthOfPkt(at - line), line, 'latin1');
    piece[line + 4] = 1;
    [line, at] = [at, at + HEAD];
  };
  for await (const bytes of content) {
    for (let from = 0; from < bytes.length; ) {
      const count = Math.min(bytes.length - from, line + HEAD + capacity - at);
      piece.set(bytes.subarray(from, from + count), at);
      from += count;
      at += count;
      if (at < line + HEAD + capacity) continue;
      endLine();
      if (line < size) continue;
      yield give(piece);
      piece = Buffer.allocUnsafeSlow(size);
      [line, at] = [0, HEAD];
    }
    free(bytes);
  }
  if (at > line + HEAD) endLine();
  if (line > 0) yield give(piece.subarray(0, line));
}
