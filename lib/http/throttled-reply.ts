import type { Throttled } from '../domain/rate-limits/throttles.ts';
import { type Reply, reply } from './reply.ts';

/** 429 in plain text, with headers that tell the client when to retry. */
export function throttledReply({ throttle, observed, at, text }: Throttled): Reply {
  const { name, limit, seconds } = throttle;
  const now = Math.floor(at.getTime() / 1000);
  const after = seconds - (now % seconds);
  const reset = now + after;
  return reply({
    status: 429,
    type: 'text/plain',
    body: text,
    headers: {
      'RateLimit-Name': name,
      // The limit for one minute, whatever the period: clients expect this unit.
      'RateLimit-Limit': String(Math.ceil((limit * 60) / seconds)),
      'RateLimit-Observed': String(observed),
      'RateLimit-Remaining': String(Math.max(0, limit - observed)),
      'RateLimit-Reset': String(reset),
      'RateLimit-ResetTime': new Date(reset * 1000).toUTCString(),
      'Retry-After': String(after),
    },
  });
}
