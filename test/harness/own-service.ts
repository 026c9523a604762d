import { afterAll, beforeAll } from 'vitest';
import type { HostOptions } from '../../local/host.ts';
import { type Service, startService } from './service.ts';

/**
 * The service of a test file: started before the first test, stopped after the last. Nothing of it can be asked for
 * while tests are declared.
 */
export function ownService(options: Partial<HostOptions> = {}): Service {
  let started: Service | undefined;
  beforeAll(async () => {
    started = await startService(options);
  });
  afterAll(() => started?.stop());
  const there = (): Service => {
    if (started === undefined) throw new Error('the service is not started yet');
    return started;
  };
  return {
    get url() {
      return there().url;
    },
    get host() {
      return there().host;
    },
    get rootToken() {
      return there().rootToken;
    },
    get mailDir() {
      return there().mailDir;
    },
    call: (...request) => there().call(...request),
    user: (...person) => there().user(...person),
    mailTo: (...address) => there().mailTo(...address),
    stop: () => there().stop(),
  };
}
