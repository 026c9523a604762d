/** Writes the part of a push before its pack: for pushes that do not come from a git client. */
import { batched } from './batched.ts';
import { FLUSH, pkt } from './pkt-line.ts';
import type { Command } from './receive-request.ts';

export interface PushRequest {
  readonly commands: readonly Command[];
  readonly atomic?: boolean;
  readonly pushOptions?: readonly string[];
}

/** Commands and push options as `git push` sends them (gitprotocol-pack, "Reference Update Request"). */
export function pushRequest({ commands, atomic = false, pushOptions = [] }: PushRequest): Uint8Array {
  const capabilities = [
    'report-status',
    'side-band-64k',
    ...(atomic ? ['atomic'] : []),
    ...(pushOptions.length > 0 ? ['push-options'] : []),
    'object-format=sha1',
  ].join(' ');
  return Buffer.concat([...batched(lines())]);

  function* lines(): Generator<Uint8Array> {
    for (const [index, { from, to, name }] of commands.entries()) {
      yield pkt(`${from} ${to} ${name}${index === 0 ? `\0 ${capabilities}` : ''}`);
    }
    yield FLUSH;
    if (pushOptions.length === 0) return;
    for (const option of pushOptions) yield pkt(option);
    yield FLUSH;
  }
}
