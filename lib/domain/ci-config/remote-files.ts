/** Files of other servers that configurations include. */
import { ConfigError } from '../../ci/errors.ts';
import { MAX_FILE_BYTES } from '../../ci/yaml/parse.ts';
import { parseAllowList } from '../../outbound/allow-list.ts';
import { OutboundError, type OutboundFailure } from '../../outbound/errors.ts';
import { remoteText } from '../../outbound/remote-text.ts';
import type { Actor } from '../actor.ts';
import type { Deps } from '../deps.ts';
import { outboundAllow } from '../imports/plan.ts';

/** For all remote files of a configuration together, so that a request or job that reads it ends in time. */
const TIME_MS = 5_000;

const FAILURES: Readonly<Record<OutboundFailure, string>> = {
  'bad-url': 'does not have a valid address!',
  // One answer for an absent host and a local one.
  blocked: 'could not be fetched because its address is blocked!',
  unreachable: 'could not be fetched because of a socket error!',
  tls: 'could not be fetched because of an invalid certificate!',
  timeout: 'could not be fetched because of a timeout error!',
  redirects: 'could not be fetched because of its redirects!',
  'too-large': `is larger than ${MAX_FILE_BYTES} bytes!`,
};

/**
 * Reads the remote files of one configuration, each once.
 * Calls of nobody are refused: whoever makes this service call another can be named.
 */
export function remoteFiles(deps: Deps, actor: Actor): (url: string) => Promise<string> {
  const read = new Map<string, Promise<string>>();
  let signal: AbortSignal | undefined;
  const fetched = async (url: string): Promise<string> => {
    const problem = (what: string) => new ConfigError(`Remote file \`${url}\` ${what}`);
    if (actor.kind === 'anonymous') throw problem('is read for signed-in users only!');
    signal ??= AbortSignal.timeout(TIME_MS);
    const allow = parseAllowList(outboundAllow(deps, await deps.settings.current()));
    try {
      const { status, text } = await remoteText(url, { maxBytes: MAX_FILE_BYTES, signal }, { allow });
      if (status !== 200) throw problem(`could not be fetched because of HTTP code \`${status}\` error!`);
      if (text.trim() === '') throw problem('is empty!');
      return text;
    } catch (error) {
      if (error instanceof OutboundError) throw problem(FAILURES[error.failure]);
      throw error;
    }
  };
  return (url) => {
    let text = read.get(url);
    if (text === undefined) read.set(url, (text = fetched(url)));
    return text;
  };
}
