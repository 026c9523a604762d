/**
 * The side bands (gitprotocol-pack, "Packfile Data"): the first byte of a packet line is its band: 1 for the pack or
 * the report, 2 for progress, 3 for a fatal message.
 */
import { MAX_PKT_DATA, pkt } from './pkt-line.ts';

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
