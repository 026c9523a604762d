import { shownHeaders } from '../../domain/hooks/calls.ts';
import { payloadOf } from '../../domain/hooks/deliveries.ts';
import { SWITCHES_OF } from '../../domain/hooks/hooks.ts';
import { FAILURES_UNTIL_OFF, type HookDelivery, type HookRecord } from '../../records/hooks.ts';
import type { ApiDeps } from '../endpoint.ts';

/** A hook as responses show it: never with its token. */
export function shownHook(hook: HookRecord, now: Date) {
  const { id, owner, url, createdAt, verifiesTls, switches, branchFilter, disabledUntil } = hook;
  const waits = disabledUntil !== null && disabledUntil > now.toISOString();
  return {
    id,
    url,
    created_at: createdAt,
    ...(owner.kind === 'project' ? { project_id: owner.id } : {}),
    ...(owner.kind === 'group' ? { group_id: owner.id } : {}),
    ...(owner.kind === 'system' ? {} : { push_events_branch_filter: branchFilter }),
    enable_ssl_verification: verifiesTls,
    alert_status:
      hook.failures >= FAILURES_UNTIL_OFF ? 'disabled' : waits ? 'temporarily_disabled' : 'executable',
    disabled_until: waits ? disabledUntil : null,
    ...Object.fromEntries(SWITCHES_OF[owner.kind].map((name) => [name, switches.includes(name)])),
  } as const;
}

/** A call, with what was sent and what was answered. The token is in neither. */
export function shownDelivery(deps: ApiDeps, hook: HookRecord, delivery: HookDelivery) {
  const { id, eventId, trigger, state, attempts, createdAt, answer } = delivery;
  return {
    id,
    url: withoutPassword(answer?.url ?? hook.url),
    trigger,
    event_uuid: eventId,
    state,
    attempts,
    created_at: createdAt,
    request_headers: shownHeaders(deps, hook, delivery),
    request_data: payloadOf(delivery) as Readonly<Record<string, unknown>>,
    response_headers: answer?.headers ?? {},
    response_body: answer?.body ?? '',
    execution_duration: (answer?.milliseconds ?? 0) / 1000,
    response_status:
      answer === undefined
        ? null
        : answer.status === null
          ? (answer.failure ?? 'failed')
          : String(answer.status),
  };
}

function withoutPassword(text: string): string {
  const url = URL.parse(text);
  if (url === null || (url.username === '' && url.password === '')) return text;
  url.username = '[REDACTED]';
  url.password = '';
  return url.href;
}
