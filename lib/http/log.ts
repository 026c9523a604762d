/** What is written when a request fails for a reason its caller may not hear. */
import { log } from '../telemetry/log.ts';

const SECRET =
  /((?:private|access|job)[_-]token|authorization|password|secret)(["']?\s*[=:]\s*["']?)(?:(?:bearer|basic)\s+)?[^&\s"',}]+/gi;

/** One line; `secrets` are texts that must not appear in it. */
export function logFailure(
  error: unknown,
  facts: { requestId: string; method: string; path: string },
  secrets: readonly string[] = [],
): void {
  const hide = (text: string) =>
    secrets.reduce((all, secret) => all.replaceAll(secret, '[hidden]'), text.replace(SECRET, '$1$2[hidden]'));
  const chain: { name: string; message: string; stack?: string }[] = [];
  for (
    let cause = error;
    cause !== undefined && chain.length < 5;
    cause = cause instanceof Error ? cause.cause : undefined
  ) {
    chain.push(
      cause instanceof Error
        ? { name: cause.name, message: hide(cause.message), stack: hide(cause.stack ?? '') }
        : { name: typeof cause, message: hide(String(cause)) },
    );
  }
  log('error', 'request failed', {
    requestId: facts.requestId,
    method: facts.method,
    path: hide(facts.path),
    error: chain[0],
    ...(chain.length > 1 ? { causes: chain.slice(1) } : {}),
  });
}
