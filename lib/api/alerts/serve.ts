/** The receiver of alerts, at the paths of the product. Its answers have no bodies. */

import { isOfPrometheus } from '../../domain/alerts/payload.ts';
import { alertEndpoint, alertsThrottled, type Refusal, takeAlert } from '../../domain/alerts/receive.ts';
import type { Deps } from '../../domain/deps.ts';
import { DomainError } from '../../domain/errors.ts';
import { type Admission, whileCounted } from '../../domain/rate-limits/request-counting.ts';
import { requireWritable } from '../../domain/settings/maintenance-mode.ts';
import { credentialOf } from '../../http/credentials.ts';
import type { RequestFacts } from '../../http/endpoint.ts';
import { HttpFailure, noRoute } from '../../http/errors.ts';
import { parseJson } from '../../http/json-params.ts';
import { readBytes } from '../../http/read-bytes.ts';
import { type Reply, reply } from '../../http/reply.ts';
import { utf8 } from '../../http/utf8.ts';
import type { AlertPath } from '../git/path.ts';

/** Bytes of what is sent. */
const MAX_BODY = 1024 * 1024;
/** Levels of what is sent. */
const MAX_DEPTH = 100;

const STATUS: Readonly<Record<Refusal, number>> = { unauthorized: 401, forbidden: 403, unknown: 404 };

/** @throws 404 for another method than POST; 503 */
export async function serveAlert(
  request: Request,
  path: AlertPath,
  facts: RequestFacts,
  deps: Deps,
  admission: Admission | undefined,
): Promise<Reply> {
  if (request.method !== 'POST') throw noRoute();
  const credential = credentialOf(facts.headers);
  const key = credential.kind === 'token' ? credential.token : undefined;
  const found = await whileCounted(admission, admission?.stranger, () => alertEndpoint(deps, path, key));
  if (typeof found === 'string') return reply({ status: STATUS[found] });
  const payload = await payloadOf(request);
  if (payload === undefined) return reply({ status: 400 });
  if (found.type === 'prometheus' && !isOfPrometheus(payload.fields)) return reply({ status: 422 });
  await requireWritable(deps);
  const wait = await alertsThrottled(deps, found);
  if (wait !== undefined) return reply({ status: 429, headers: { 'Retry-After': String(wait) } });
  await takeAlert(deps, found, payload.json, facts.baseUrl);
  return reply({ status: 200 });
}

/** A JSON object within the limits; undefined for everything else. */
async function payloadOf(
  request: Request,
): Promise<{ readonly json: string; readonly fields: Readonly<Record<string, unknown>> } | undefined> {
  try {
    const json = utf8(await readBytes(request, MAX_BODY));
    if (!/^\s*\{/.test(json)) return undefined;
    return { json, fields: parseJson(json, MAX_DEPTH) };
  } catch (error) {
    if (error instanceof HttpFailure || (error instanceof DomainError && error.code === 'too-large'))
      return undefined;
    throw error;
  }
}
