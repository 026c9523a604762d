/** Logs errors whose cause the caller may not learn. */
import { log } from '../telemetry/log.ts';
import { plainError } from '../telemetry/plain-error.ts';

const SECRET =
  /((?:private|access|job)[_-]token|authorization|password|secret)(["']?\s*[=:]\s*["']?)(?:(?:bearer|basic)\s+)?[^&\s"',}]+/gi;

/** Logs one line; `secrets` are texts that must not appear in it. */
export function logFailure(
  error: unknown,
  facts: { requestId: string; method: string; path: string },
  secrets: readonly string[] = [],
): void {
  const hide = (text: string) =>
    secrets.reduce((all, secret) => all.replaceAll(secret, '[hidden]'), text.replace(SECRET, '$1$2[hidden]'));
  log('error', 'request failed', {
    requestId: facts.requestId,
    method: facts.method,
    path: hide(facts.path),
    error: plainError(error, hide),
  });
}
