import { beforeAll } from 'vitest';
import type { HostOptions } from '../../local/host.ts';
import { ownService } from './own-service.ts';
import type { Answer } from './service.ts';
import { ask, makeWorld, type Who, type World } from './world.ts';

/** Sends a request as one of the people. */
type As = (who: Who, method: string, path: string, json?: unknown) => Promise<Answer>;

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
  let people = 0;
  return {
    service,
    world,
    as,
    /** As the administrator. */
    root: (method: string, path: string, json?: unknown) => as('administrator', method, path, json),
    /** A new user. */
    someone: (details: Record<string, unknown> = {}) => service.user(`someone-${++people}`, details),
  };
}
