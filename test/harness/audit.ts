import { expect } from 'vitest';
import type { Service } from './service.ts';

/** An event as tests compare it: whose it is and by whom, and its details without what every event has. */
export interface Told {
  /** `User 12` */
  readonly of: string;
  /** The author's name, followed by `for <name>` for an administrator who impersonates. */
  readonly by: string;
  readonly [detail: string]: unknown;
}

interface AuditEvent {
  readonly id: number;
  readonly author_id: number;
  readonly entity_id: number;
  readonly entity_type: string;
  readonly details: Readonly<Record<string, unknown>>;
}

/** Long enough for everything that one test does. */
const PAGE = 100;

/** What was recorded in the whole instance while something was done, in its order; of one moment by entity. */
export async function recordedBy(service: Service, work: () => Promise<unknown>): Promise<Told[]> {
  const before = new Set((await newest(service)).map(({ id }) => id));
  await work();
  const after = await newest(service);
  const fresh = after.filter(({ id }) => !before.has(id)).reverse();
  expect(fresh.length, 'more than a page was recorded').toBeLessThan(PAGE);
  return fresh.map(toldOf);
}

async function newest(service: Service): Promise<AuditEvent[]> {
  const { status, body } = await service.call('GET', `/audit_events?per_page=${PAGE}`, {
    token: service.rootToken,
  });
  expect(status).toBe(200);
  return body;
}

function toldOf({ entity_type, entity_id, author_id, details }: AuditEvent): Told {
  const {
    author_name,
    author_email,
    author_class,
    ip_address,
    entity_path,
    impersonated_by,
    correlation_id,
    ...rest
  } = details;
  expect(entity_path, 'every event tells the path of what it is about').toEqual(expect.any(String));
  expect(correlation_id, 'every event leads to the log').toEqual(expect.any(String));
  if (author_class === 'System') expect(author_id).toBe(-1);
  else {
    // The author of the request came from here, also where a worker did the work.
    expect(ip_address).toBe('127.0.0.1');
    if (author_class === 'User') expect([author_id > 0, author_email]).toEqual([true, expect.any(String)]);
  }
  const by = impersonated_by === undefined ? author_name : `${impersonated_by} for ${author_name}`;
  return { of: `${entity_type} ${entity_id}`, by: String(by), ...rest };
}
