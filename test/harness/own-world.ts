import { beforeAll, expect } from 'vitest';
import type { HostOptions } from '../../local/host.ts';
import { ownService } from './own-service.ts';
import type { Answer } from './service.ts';
import { ask, makeWorld, type Who, type World } from './world.ts';

/** Sends a request as one of the people. */
type As = (who: Who, method: string, path: string, json?: unknown) => Promise<Answer>;

/** The people who are named by their level. */
const LEVELS = [
  ['guest', 10],
  ['reporter', 20],
  ['developer', 30],
  ['maintainer', 40],
] as const;

/** The world of a test file, in a service of its own, and what all who live in one do. */
export function ownWorld(options: Partial<HostOptions> = {}) {
  const service = ownService(options);
  let made: World | undefined;
  beforeAll(async () => {
    made = await makeWorld(service);
  });
  const there = (): World => {
    if (made === undefined) throw new Error('the world is not made yet');
    return made;
  };
  const world: World = {
    service,
    get store() {
      return there().store;
    },
    get tokens() {
      return there().tokens;
    },
    get ids() {
      return there().ids;
    },
  };
  const as: As = (who, method, path, json) => ask(there(), who, method, path, json);
  /** The same, and returns the body of what succeeds. */
  const ok = async (who: Who, method: string, path: string, json?: object) => {
    const { status, body } = await as(who, method, path, json);
    expect(status, `${method} ${path}: ${JSON.stringify(body).slice(0, 500)}`).toBeLessThan(300);
    return body;
  };
  let people = 0;
  return {
    service,
    world,
    as,
    ok,
    /** Makes the people members of a project of the owner, each with the level that is their name. */
    join: async (project: string) => {
      for (const [who, access_level] of LEVELS)
        await ok('owner', 'POST', `${project}/members`, { user_id: there().ids[who], access_level });
    },
    /** As the administrator. */
    root: (method: string, path: string, json?: unknown) => as('administrator', method, path, json),
    /** A new user. */
    someone: (details: Record<string, unknown> = {}) => service.user(`someone-${++people}`, details),
  };
}
