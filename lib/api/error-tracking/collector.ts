import { requireCollecting, takeEvents } from '../../domain/error-tracking/tracked-errors.ts';
import { unauthorized } from '../../domain/errors.ts';
import { anyone } from '../../http/access.ts';
import * as p from '../../http/params.ts';
import { json } from '../../http/reply.ts';
import { endpoint } from '../endpoint.ts';
import { eventOf, eventsOf, inflated, MAX_BODY } from './sentry-body.ts';
import * as shapes from './shapes.ts';

const ID = /^[1-9]\d{0,14}$/;

/** The key in `X-Sentry-Auth: Sentry sentry_key=..., ...`, or the same in `Authorization`. */
function keyIn(headers: Headers): string | undefined {
  const shown = [headers.get('x-sentry-auth'), headers.get('authorization')];
  for (const header of shown) {
    const key = /^sentry .*?\bsentry_key=([\w-]{1,255})/i.exec(header?.slice(0, 2_000) ?? '')?.[1];
    if (key !== undefined) return key;
  }
  return undefined;
}

const collector = (kind: 'store' | 'envelope', about: string) =>
  endpoint({
    method: 'POST',
    path: `/error_tracking/collector/api/:id/${kind}`,
    area: 'monitoring',
    summary: `Add errors of a project’s programs by ${about}`,
    description:
      'For clients of Sentry, which make this path of the address of a client key. The key is in the header `X-Sentry-Auth` or in `sentry_key`; the body may be compressed (gzip, deflate, br).',
    access: anyone(),
    params: () => p.params({ id: p.string({ required: true, description: 'ID of the project' }) }),
    query: () =>
      p.params({
        sentry_key: p.string({ description: 'Client key of the project' }),
        sentry_version: p.string({ description: 'Version of the protocol; it is not looked at' }),
        sentry_client: p.string({ description: 'The client; it is not looked at' }),
      }),
    content: kind === 'store' ? 'An event' : 'An envelope: lines of JSON, and what they tell of',
    bodyLimit: MAX_BODY,
    returns: { status: 200, body: shapes.taken },
    errors: [
      { status: 400, description: 'The body cannot be read, or tells of nothing' },
      { status: 401, description: 'The key is none of the project' },
      { status: 404, description: 'The project collects no errors' },
      { status: 413, description: 'The body is too large, compressed or not' },
    ],
    handle: async ({ params, query, content, request }, deps) => {
      const key = query.sentry_key ?? keyIn(request.headers);
      if (key === undefined || !ID.test(params.id)) throw unauthorized();
      const projectId = Number(params.id);
      await requireCollecting(deps, projectId, key.slice(0, 255));
      const body = await inflated(content, request.headers.get('content-encoding'));
      const events = kind === 'store' ? [eventOf(body)] : eventsOf(body);
      return json({ id: (await takeEvents(deps, projectId, events)) ?? null });
    },
  });

export const collectorEndpoints = [collector('store', 'event'), collector('envelope', 'envelope')];
