import { afterAll, beforeAll } from 'vitest';
import type { HostOptions } from '../../local/host.ts';
import { type Answer, type Service, startService } from './service.ts';
import { ask, makeWorld, type Who, type World } from './world.ts';

/** A request of somebody's. */
export type As = (who: Who, method: string, path: string, json?: unknown) => Promise<Answer>;

/**
 * The world of a test file, and what all who live in one do. It is made before the first test and ends after the last:
 * nothing of it can be asked for while tests are declared.
 */
export function ownWorld(options: Partial<HostOptions> = {}) {
  let made: World | undefined;
  beforeAll(async () => {
    made = await makeWorld(await startService(options));
  });
  afterAll(() => made?.service.stop());
  const there = (): World => {
    if (made === undefined) throw new Error('the world is not made yet');
    return made;
  };
  const world: World = {
    get service() {
      return there().service;
    },
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
  const service: Omit<Service, 'stop'> = {
    get url() {
      return there().service.url;
    },
    get host() {
      return there().service.host;
    },
    get rootToken() {
      return there().service.rootToken;
    },
    call: (...request) => there().service.call(...request),
    user: (...person) => there().service.user(...person),
    mailTo: (...address) => there().service.mailTo(...address),
  };
  const as: As = (who, method, path, json) => ask(there(), who, method, path, json);
  let people = 0;
  return {
    service,
    world,
    as,
    /** As the administrator. */
    root: (method: string, path: string, json?: unknown) => as('administrator', method, path, json),
    /** Somebody who was not there before. */
    someone: (details: Record<string, unknown> = {}) => service.user(`someone-${++people}`, details),
  };
}
