import type { Expected, Scenario } from '../../harness/scenarios.ts';
import type { Who, World } from '../../harness/world.ts';

/** Who reads the code of a project of each visibility with a token of all scopes. */
export const READERS = {
  public: {
    anonymous: 200,
    stranger: 200,
    external: 200,
    former: 200,
    guest: 200,
    reporter: 200,
    developer: 200,
    maintainer: 200,
    owner: 200,
    administrator: 200,
    blocked: 403,
    expired: 401,
    revoked: 401,
    unknown: 401,
  },
  internal: {
    anonymous: 404,
    stranger: 200,
    external: 404,
    former: 200,
    guest: 200,
    reporter: 200,
    developer: 200,
    maintainer: 200,
    owner: 200,
    administrator: 200,
    blocked: 403,
    expired: 401,
    revoked: 401,
    unknown: 401,
  },
  private: {
    anonymous: 404,
    stranger: 404,
    external: 404,
    former: 404,
    guest: 403,
    reporter: 200,
    developer: 200,
    maintainer: 200,
    owner: 200,
    administrator: 200,
    blocked: 403,
    expired: 401,
    revoked: 401,
    unknown: 401,
  },
} as const satisfies Record<string, Partial<Record<Who, number>>>;

export const VISIBILITIES = ['public', 'internal', 'private'] as const;
type Visibility = (typeof VISIBILITIES)[number];

/** A word that stands in the code of the private project alone, and in its refs. */
export const SECRET = 'sesame';

type Path = string | ((world: World, who: Who) => string);

/** A request of every reader of each visibility: `path` is below the project. */
export function codeReads(
  method: 'GET' | 'HEAD',
  path: Path,
  { status = 200, files = false }: { status?: number; files?: boolean } = {},
): Scenario[] {
  return VISIBILITIES.map((visibility) => ({
    request: named(method, visibility, path),
    as: Object.fromEntries(
      Object.entries({
        ...READERS[visibility],
        read_user: 403,
        write_repository: 403,
        read_api: 200,
        read_repository: files ? 200 : 403,
      }).map(([who, expected]) => [
        who,
        method === 'HEAD'
          ? { status: expected === 200 ? status : expected, holds: null }
          : expected === 200
            ? status
            : expected,
      ]),
    ) as Scenario['as'],
    hides: visibility === 'private' ? [SECRET] : [],
  }));
}

/** A write of every kind of caller to each visibility, and to an archived project. */
export function codeWrites(
  method: 'POST' | 'PUT' | 'DELETE',
  path: Path,
  json: Scenario['json'],
  { status, forbidden }: { status: number; forbidden?: Expected['holds'] },
): Scenario[] {
  const refused: Expected = { status: 403, ...(forbidden === undefined ? {} : { holds: forbidden }) };
  const scoped = { read_user: 403, read_api: 403, read_repository: 403, write_repository: 403 } as const;
  const bad = { blocked: 403, expired: 401, revoked: 401, unknown: 401 } as const;
  const members = {
    reporter: refused,
    developer: status,
    maintainer: status,
    owner: status,
    administrator: status,
  };
  const per = {
    public: { anonymous: 401, stranger: refused, external: refused, former: refused, guest: refused },
    internal: { anonymous: 401, stranger: refused, external: 404, former: refused, guest: refused },
    // Nobody writes without signing in: said before any project is looked for, so it tells nothing of one.
    private: { anonymous: 401, stranger: 404, external: 404, former: 404, guest: 403 },
  } as const;
  const of = (project: Visibility | 'archived', as: Scenario['as']): Scenario => ({
    request: named(method, project, path),
    ...(json === undefined ? {} : { json }),
    as,
    hides: project === 'private' ? [SECRET] : [],
  });
  return [
    ...VISIBILITIES.map((visibility) =>
      of(visibility, { ...per[visibility], ...members, ...scoped, ...bad }),
    ),
    of('archived', {
      anonymous: 401,
      stranger: refused,
      developer: refused,
      owner: refused,
      administrator: refused,
    }),
  ];
}

function named(method: string, project: string, path: Path): Scenario['request'] {
  if (typeof path === 'string') return `${method} /projects/{${project}}${path}`;
  const request = (world: World, who: Who) => `${method} /projects/{${project}}${path(world, who)}`;
  return Object.defineProperty(request, 'name', { value: `${method} {${project}} ${path.name}` });
}

/** Files, a branch and two tags in each of the world's projects; and `archived`, a public project that was one. */
export async function seedCode(world: World): Promise<void> {
  const { service, ids, tokens } = world;
  const owner = tokens.owner!;
  const ask = async (method: string, path: string, json: unknown) => {
    const answer = await service.call(method, path, { token: owner, json });
    if (answer.status >= 300) throw new Error(`${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer.body;
  };
  ids['archived'] = (await ask('POST', '/projects', { name: 'archived thing', visibility: 'public' })).id;
  await ask('POST', `/projects/${ids['archived']}/members`, { user_id: ids['developer'], access_level: 30 });
  for (const project of [...VISIBILITIES, 'archived'] as const) {
    const path = `/projects/${ids[project]}/repository`;
    const word = project === 'private' ? SECRET : project;
    await ask('POST', `${path}/commits`, {
      branch: 'main',
      commit_message: `${word}: begin`,
      actions: [
        { action: 'create', file_path: 'README.md', content: `# ${word}\n` },
        { action: 'create', file_path: 'src/deep/word.txt', content: `${word}\n` },
      ],
    });
    await ask('POST', `${path}/branches`, { branch: 'feature/x', ref: 'main' });
    await ask('POST', `${path}/tags`, { tag_name: 'v1', ref: 'main' });
    await ask('POST', `${path}/tags`, { tag_name: 'v2', ref: 'main', message: `${word} is out` });
  }
  // No endpoint archives yet.
  const project = (await world.store.projects.get(ids['archived']!))!;
  await world.store.projects.update(project, { archived: true });
}
