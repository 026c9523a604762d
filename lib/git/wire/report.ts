/** The report of a push (gitprotocol-pack, "Report Status"). */
import { batched } from './batched.ts';
import { FLUSH, pkt } from './pkt-line.ts';
import { onBand, type SideBand } from './side-band.ts';

export interface RefReport {
  readonly name: string;
  /** Why the ref keeps its value; undefined when it was updated. */
  readonly reason: string | undefined;
}

/**
 * `unpack ok` or an error, then one line per command, as packet lines inside band 1.
 * `report-status-v2` only adds option lines for updates that the server changed, which this one never does.
 */
export function reportStatus(unpack: string, refs: readonly RefReport[], sideBand: SideBand): Uint8Array[] {
  const report = Buffer.concat([...batched(lines())]);
  return sideBand === 'none' ? [report] : onBand(sideBand, 1, report);

  function* lines(): Generator<Uint8Array> {
    yield pkt(`unpack ${oneLine(unpack)}\n`);
    for (const { name, reason } of refs) {
      yield pkt(reason === undefined ? `ok ${name}\n` : `ng ${oneLine(name)} ${oneLine(reason)}\n`);
    }
    yield FLUSH;
  }
}

/** Makes a reason fit into one line of a terminal, and one packet line together with the longest name. */
export function oneLine(text: string): string {
  const line = text.replace(/[\u0000-\u001f\u007f]+/g, ' ').trim();
  return line.length > 1000 ? `${line.slice(0, 999)}…` : line;
}
