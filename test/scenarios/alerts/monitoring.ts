import { expect } from 'vitest';
import { type Answer, request } from '../../harness/service.ts';
import { settled } from '../../harness/settled.ts';
import type { Who } from '../../harness/world.ts';

type As = (who: Who, method: string, path: string, json?: unknown) => Promise<Answer>;

export interface Integration {
  readonly id: number;
  readonly url: string;
  readonly key: string;
  /** Of its project: the path in the API, the full path and the id. */
  readonly at: string;
  readonly path: string;
  readonly project: number;
}

/** What tests of alerts do again and again. */
export function monitoring(as: As) {
  let names = 0;
  const project = async (): Promise<{ id: number; path: string }> => {
    const { body } = await as('owner', 'POST', '/projects', { name: `watched ${++names}` });
    return { id: body.id, path: body.path_with_namespace };
  };
  return {
    project,
    async integrated(more: object = {}, of?: { id: number; path: string }): Promise<Integration> {
      const { id, path } = of ?? (await project());
      const at = `/projects/${id}`;
      const json = { name: 'My Monitor', ...more };
      const { status, body } = await as('owner', 'POST', `${at}/alert_integrations`, json);
      expect(status, JSON.stringify(body)).toBe(201);
      return { id: body.id, url: body.url, key: body.authorization_key, at, path, project: id };
    },
    /** As a monitoring tool. */
    send: (url: string, key: string | undefined, body: unknown): Promise<Answer> =>
      request(url, 'POST', {
        headers: key === undefined ? {} : { Authorization: `Bearer ${key}` },
        body: typeof body === 'string' ? body : JSON.stringify(body),
      }),
    async alertsOf({ at }: Pick<Integration, 'at'>, query = ''): Promise<Answer['body']> {
      await settled();
      return (await as('owner', 'GET', `${at}/alerts${query}`)).body;
    },
  };
}
