import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Tally } from '../deploy/tally.ts';
import { call, done } from './client.ts';
import { ExpectedState } from './expected-state.ts';
import { Host, ROOT_TOKEN, settle } from './host.ts';
import { checked } from './kills.ts';
import { person, startedProject } from './people.ts';
import { expect, report } from './races.ts';

const KILLS = 6;
/** Longer than writing an issue takes: others wait for the call under way. */
const ANSWER_MS = 100;
/** A host is killed in the next call, which it makes within this time. */
const CALL_MS = 20_000;

/**
 * The host is killed again and again while it calls a hook. What was acknowledged is told, in the order in which it was
 * written, and what is told twice is known by the id of its event.
 */
export async function hookKills(tally: Tally, dataDir: string): Promise<void> {
  const receiver = await listen();
  const expectedState = new ExpectedState();
  const acknowledged: string[] = [];
  let host = await Host.start(dataDir);
  try {
    const ada = await person(host.url, 'ada', expectedState);
    const project = await startedProject(host.url, ada, 'told', expectedState);
    const settings = { allow_local_requests_from_web_hooks_and_services: true };
    done(await call(host.url, ROOT_TOKEN, 'PUT', '/application/settings', settings));
    const hook = { url: receiver.url, issues_events: true, push_events: false };
    done(await call(host.url, ada.token, 'POST', `/projects/${project.id}/hooks`, hook));
    for (let round = 1; round <= KILLS; round++) {
      const delay = 1_500 + Math.random() * 1_500;
      await tally.step(`kill ${round} while a hook is called, after ${Math.round(delay)} ms`, async () => {
        const { url } = host;
        const writing = (async () => {
          for (let n = 0; host.alive; n++) {
            const title = `round ${round}, ${n}`;
            const made = await call(url, ada.token, 'POST', `/projects/${project.id}/issues`, { title });
            expect(made.kind !== 'refused', JSON.stringify(made));
            if (made.kind === 'done') acknowledged.push(title);
            // Their limit is 300 a minute.
            await sleep(150);
          }
        })();
        await sleep(delay);
        await Promise.race([receiver.heldCall(), sleep(CALL_MS)]);
        const { alive } = host;
        await host.kill();
        await writing;
        expect(alive, `the host ended by itself: ${host.lastWords}`);
        if (round < KILLS) host = await Host.start(dataDir);
      });
    }
    await tally.step('what was acknowledged is told, and nothing twice under two ids', async () => {
      await settle(dataDir);
      const titles = new Set(receiver.told.map(({ title }) => title));
      const missing = acknowledged.filter((title) => !titles.has(title));
      expect(missing.length === 0, `${missing.length} not told: ${missing[0]}`);
      const ids = new Map(receiver.told.map(({ title, id }) => [title, id]));
      const torn = receiver.told.filter(({ title, id }) => ids.get(title) !== id);
      expect(torn.length === 0, `${torn[0]?.title} is told under two ids`);
      expect(new Set(ids.values()).size === ids.size, 'two events have one id');
      const firsts = [...titles].filter((title) => acknowledged.includes(title));
      const sorted = acknowledged.filter((title) => titles.has(title));
      expect(JSON.stringify(firsts) === JSON.stringify(sorted), 'events came in another order');
      const { cut, told } = receiver;
      report(`${acknowledged.length} acknowledged, ${told.length} calls, ${cut()} cut off`);
      expect(cut() > 0, 'no host was killed in a call');
      await checked(dataDir, expectedState, true);
    });
  } finally {
    await host.kill();
    receiver.close();
  }
}

/** A receiver that takes its time. */
async function listen() {
  const told: { readonly id: string; readonly title: string }[] = [];
  let cut = 0;
  const held = new Set<string>();
  let holding: PromiseWithResolvers<void> | undefined;
  const server = createServer((request, response: ServerResponse) => {
    const pieces: Buffer[] = [];
    request.on('data', (piece) => pieces.push(piece));
    request.on('end', async () => {
      const { object_attributes } = JSON.parse(Buffer.concat(pieces).toString());
      const { title } = object_attributes;
      told.push({ id: String(request.headers['x-gitlab-event-uuid']), title });
      // Each once: a hook that fails again and again is called ever more seldom.
      if (holding !== undefined && !held.has(title)) {
        held.add(title);
        holding.resolve();
        holding = undefined;
        return;
      }
      await sleep(ANSWER_MS);
      response.end('thank you');
    });
    response.on('close', () => {
      if (!response.writableFinished) cut++;
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/`,
    told,
    cut: () => cut,
    /** Resolves when the next event was told, in a call that is never answered: the end of its host cuts it off. */
    heldCall: () => {
      holding = Promise.withResolvers();
      return holding.promise;
    },
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
