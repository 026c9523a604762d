/** Feeds of activity as people of a world read them. */
import { ask, type Who, type World } from '../../harness/world.ts';

export interface Told {
  readonly id: number;
  readonly project_id: number;
  readonly action_name: string;
  readonly author_username: string;
  readonly created_at: string;
}

export function feedsOf(world: World) {
  // biome-ignore lint/suspicious/noExplicitAny: answers of every shape
  async function done(who: Who, method: string, path: string, json?: unknown): Promise<any> {
    const { status, body } = await ask(world, who, method, path, json);
    if (status >= 300) throw new Error(`${method} ${path}: ${status} ${JSON.stringify(body)}`);
    return body;
  }
  const feed = (who: Who, path: string): Promise<Told[]> =>
    done(who, 'GET', `${path}${path.includes('?') ? '&' : '?'}per_page=100`);
  return { done, feed };
}

/** What was done, each once. */
export const names = (events: readonly Told[]) =>
  [...new Set(events.map((event) => event.action_name))].sort();
