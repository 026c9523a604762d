/** Reads a text from a server that users name. */
import { whole } from '../bytes/whole.ts';
import { type DestinationPolicy, MAX_URL_LENGTH } from './destination.ts';
import { OutboundError } from './errors.ts';
import { outboundRequest } from './request.ts';

const MAX_REDIRECTS = 3;

/**
 * Returns the status and the text of an answer; the text of an error is not read.
 * @param signal ends the call
 * @throws OutboundError
 */
export async function remoteText(
  address: string,
  { maxBytes, signal }: { readonly maxBytes: number; readonly signal: AbortSignal },
  policy: DestinationPolicy,
): Promise<{ readonly status: number; readonly text: string }> {
  const url = address.length > MAX_URL_LENGTH ? null : URL.parse(address);
  if (url === null) throw new OutboundError('bad-url');
  const answer = await outboundRequest(
    { method: 'GET', url, signal },
    { maxBytes, maxRedirects: MAX_REDIRECTS },
    policy,
  );
  if (answer.status !== 200) {
    answer.close();
    return { status: answer.status, text: '' };
  }
  return { status: 200, text: (await whole(answer.body)).toString('utf8') };
}
