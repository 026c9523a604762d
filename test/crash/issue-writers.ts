import { setTimeout as sleep } from 'node:timers/promises';
import { NO_ISSUE } from './check-issue-work.ts';
import { call, done, type Outcome } from './client.ts';
import type { ExpectedState } from './expected-state.ts';
import type { Host } from './host.ts';
import { changing, type Step, steps } from './subject-writers.ts';
import type { Fixtures } from './writers.ts';

/** Of issues and notes, so many that their limits of 300 a minute are not met. */
const PAUSE_MS = 400;

/**
 * Files an issue that somebody wants to hear about by mail, comments on it, and closes it or moves it away.
 * @param counted hears of each change that was made, as a round may end before the last
 */
export function tracking(
  host: Host,
  { ada, shared, tracked }: Fixtures,
  expectedState: ExpectedState,
  counted: (outcome: Outcome<unknown>) => void,
): Step {
  let count = 0;
  return steps(async (name) => {
    const key = `issue issue-of-${name}`;
    const path = `/projects/${shared.id}/issues`;
    const ask = (method: string, at: string, json: object) => call(host.url, ada.token, method, at, json);
    expectedState.state(key, NO_ISSUE);
    let iid = 0;
    await changing(expectedState, key, 'opened', async () => {
      const made = await ask('POST', path, { title: `issue-of-${name}`, description: `work-of-${name}` });
      if (made.kind === 'done') iid = made.value.iid;
      return made;
    });
    counted({ kind: 'done', value: undefined });
    const body = `remark-of-${name}`;
    done(await ask('POST', `${path}/${iid}/notes`, { body }));
    expectedState.remarks.add(body);
    counted({ kind: 'done', value: undefined });
    await (count++ % 2 === 0
      ? changing(expectedState, key, 'closed', () => ask('PUT', `${path}/${iid}`, { state_event: 'close' }))
      : changing(expectedState, key, 'moved', () =>
          ask('POST', `${path}/${iid}/move`, { to_project_id: tracked.id }),
        ));
    await sleep(PAUSE_MS);
  });
}
