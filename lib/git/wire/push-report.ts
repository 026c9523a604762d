/** Reads the answer to a push, for its sender; `report.ts` writes it. */
import { textLine } from './line.ts';
import { PktReader } from './pkt-line.ts';
import type { RefReport } from './report.ts';

export interface PushReport {
  /** `ok`, or why the pack was refused. */
  readonly unpack: string;
  readonly refs: readonly RefReport[];
  /** What a terminal would show besides progress: warnings, and problems of objects. */
  readonly messages: readonly string[];
}

/** Reads the report of a push with side bands. An interrupted answer has no report. */
export async function readPushReport(body: AsyncIterable<Uint8Array>): Promise<PushReport> {
  const reader = new PktReader(body);
  const report: Uint8Array[] = [];
  const texts: string[] = [];
  let failure: string | undefined;
  for (let packet = await reader.next(); packet.kind === 'data'; packet = await reader.next()) {
    const { data } = packet;
    if (data[0] === 1) report.push(Uint8Array.from(data.subarray(1)));
    else if (data[0] === 2) texts.push(Buffer.from(data.subarray(1)).toString('utf8'));
    // An `ERR` line is outside of the bands, a fatal message on band 3.
    else failure ??= data[0] === 3 ? Buffer.from(data.subarray(1)).toString('utf8').trim() : textLine(data);
  }
  const { unpack, refs } = await parsed(report);
  return { unpack: failure ?? unpack, refs, messages: messagesOf(texts.join('')) };
}

async function parsed(pieces: readonly Uint8Array[]): Promise<Omit<PushReport, 'messages'>> {
  async function* body() {
    yield* pieces;
  }
  const reader = new PktReader(body());
  const refs: RefReport[] = [];
  let unpack = 'no report';
  for (let packet = await reader.next(); packet.kind === 'data'; packet = await reader.next()) {
    const line = textLine(packet.data);
    const refused = /^ng (\S+) (.*)$/.exec(line);
    if (line.startsWith('unpack ')) unpack = line.slice('unpack '.length);
    else if (refused !== null) refs.push({ name: refused[1]!, reason: refused[2]! });
    else if (line.startsWith('ok ')) refs.push({ name: line.slice('ok '.length), reason: undefined });
  }
  return { unpack, refs };
}

/** The lines without progress, which overwrites its own line on a terminal. */
function messagesOf(text: string): string[] {
  return text
    .split(/[\r\n]/)
    .filter((line) => /^(warning|error): /.test(line))
    .slice(0, 100);
}
