/** Sends text over TCP to servers given by users, which answer nothing. The addresses are checked as those of requests are. */
import { connect } from 'node:net';
import { parseAddress } from './address.ts';
import { type DestinationPolicy, hostOf, mayConnect, portOf, resolveDestination } from './destination.ts';
import { OutboundError } from './errors.ts';

/** Connects to host and port of the URL, sends the text, and ends. @throws OutboundError */
export async function sendLines(
  url: URL,
  text: Uint8Array,
  policy: DestinationPolicy,
  signal: AbortSignal,
): Promise<void> {
  const [first] = await resolveDestination(url, policy);
  if (first === undefined) throw new OutboundError('bad-url');
  if (signal.aborted) throw new OutboundError('timeout');
  await new Promise<void>((resolve, reject) => {
    const socket = connect({ host: first.address, port: portOf(url), family: first.family });
    const end = () => socket.destroy(new OutboundError('timeout'));
    signal.addEventListener('abort', end, { once: true });
    socket.once('connect', () => {
      const address = parseAddress(socket.remoteAddress ?? '');
      if (address === undefined || !mayConnect(hostOf(url), address, portOf(url), policy))
        socket.destroy(new OutboundError('blocked'));
      else socket.end(text);
    });
    // What it says is not read.
    socket.resume();
    socket.once('error', (error) =>
      reject(error instanceof OutboundError ? error : new OutboundError('unreachable', { cause: error })),
    );
    socket.once('finish', () => socket.destroySoon());
    socket.once('close', (failed) => {
      signal.removeEventListener('abort', end);
      if (!failed) resolve();
    });
  });
}
