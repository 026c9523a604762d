/** A small service of endpoints over an access port that keeps its users and projects in memory. */
import type { OpenRequest, RequestContext } from '../../../lib/domain/access/types.ts';
import type { Actor } from '../../../lib/domain/actor.ts';
import { DomainError, forbidden, notFound, unauthorized } from '../../../lib/domain/errors.ts';
import type { AccessPort, SubjectRule } from '../../../lib/http/access.ts';
import type { Endpoint, HttpDeps } from '../../../lib/http/endpoint.ts';
import { apiFunction } from '../../../lib/http/function.ts';
import type { ProjectRecord } from '../../../lib/records/projects.ts';
import type { TokenRecord, TokenScope } from '../../../lib/records/tokens.ts';
import type { UserRecord } from '../../../lib/records/users.ts';

const user = (id: number, username: string, admin = false): UserRecord => ({
  id,
  username,
  admin,
  name: username,
  email: `${username}@example.org`,
  state: 'active',
  external: false,
  privateProfile: false,
  canCreateGroup: true,
  projectsLimit: 10,
  projectsCount: 0,
  namespaceId: id,
  createdAt: '2026-01-01T00:00:00.000Z',
  updatedAt: '2026-01-01T00:00:00.000Z',
  confirmedAt: null,
  lastActivityOn: null,
  passwordHash: null,
  profile: {},
  version: 1,
});

const tokens: Record<string, { user: UserRecord; scopes: TokenScope[] }> = {
  root: { user: user(1, 'root', true), scopes: ['api', 'sudo'] },
  dev: { user: user(2, 'dev'), scopes: ['api'] },
  reader: { user: user(2, 'dev'), scopes: ['read_api'] },
  cloner: { user: user(2, 'dev'), scopes: ['read_repository'] },
  stranger: { user: user(3, 'stranger'), scopes: ['api'] },
};

const project = (id: number, fullPath: string, visibility: 'public' | 'private') =>
  ({ id, fullPath, visibility }) as unknown as ProjectRecord;
const projects = [project(1, 'group/open', 'public'), project(2, 'group/closed.d', 'private')];

/** Everything that was opened, in order. */
export class MemoryAccess implements AccessPort {
  readonly opened: OpenRequest[] = [];

  async open(request: OpenRequest): Promise<RequestContext> {
    this.opened.push(request);
    const actor = this.#actor(request);
    if (request.project === undefined) return { actor };
    const found = projects.find((p) => String(p.id) === request.project || p.fullPath === request.project);
    const member = actor.kind === 'user' && actor.user.username !== 'stranger';
    if (found === undefined || !(member || found.visibility === 'public')) throw notFound('Project');
    return { actor, project: { project: found, level: member ? 30 : 0 } };
  }

  authorize({ project: access }: RequestContext, { ability }: SubjectRule): void {
    if (ability === 'push_code' && access!.level < 30) throw forbidden();
  }

  #actor({ credential }: OpenRequest): Actor {
    if (credential.kind !== 'token') return { kind: 'anonymous' };
    if (credential.token === 'revoked') {
      throw new DomainError('invalid-token', 'Token was revoked. You have to re-authorize from the user.');
    }
    const known = tokens[credential.token];
    if (known === undefined) throw unauthorized();
    return { kind: 'user', user: known.user, token: {} as TokenRecord, scopes: new Set(known.scopes) };
  }
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly body: unknown;
}

export function serviceOf(endpoints: readonly Endpoint<HttpDeps>[]) {
  const access = new MemoryAccess();
  const service = apiFunction({ endpoints, deps: () => ({ access }), serviceName: 'Lemnos' });
  const send = async (line: string, options: RequestInit & { token?: string } = {}): Promise<Answer> => {
    const [method = 'GET', path = '/'] = line.split(' ');
    const headers = new Headers(options.headers);
    if (options.token !== undefined) headers.set('PRIVATE-TOKEN', options.token);
    const response = await service.fetch(
      new Request(`http://lemnos.test/api/v4${path}`, { ...options, method, headers }),
      {
        sourceIp: '203.0.113.7',
        baseUrl: 'http://lemnos.test',
      },
    );
    const text = await response.text();
    let body: unknown;
    try {
      body = JSON.parse(text);
    } catch {
      body = undefined;
    }
    return { status: response.status, headers: response.headers, text, body };
  };
  return { ...service, access, send };
}
