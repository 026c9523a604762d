import type { Answer, Service } from './service.ts';

/** A group with single sign-on, and its identity provider. */
export interface ScimGroup {
  readonly id: number;
  readonly path: string;
  readonly token: string;
  /** A request of the provider's; `path` is below the group's, such as `/Users`. */
  agent(method: string, path: string, json?: unknown): Promise<Answer>;
}

export interface ScimCall {
  readonly token?: string | undefined;
  readonly json?: unknown;
  readonly raw?: string;
  readonly type?: string;
}

/** `path` is below `/api/scim/v2/groups/`, percent-encoded. The answer must be in SCIM's type. */
export async function scim(
  service: Service,
  method: string,
  path: string,
  { token, json, raw, type = 'application/scim+json' }: ScimCall,
): Promise<Answer> {
  const body = raw ?? (json === undefined ? undefined : JSON.stringify(json));
  const headers = {
    ...(token === undefined ? {} : { Authorization: `Bearer ${token}` }),
    ...(body === undefined ? {} : { 'Content-Type': type }),
  };
  const sent = { headers, ...(body === undefined ? {} : { raw: body }) };
  const answer = await service.call(method, `/api/scim/v2/groups/${path}`, sent);
  const said = answer.headers.get('content-type');
  if (answer.body !== null && said !== 'application/scim+json')
    throw new Error(
      `${method} ${path} is answered in ${said}: ${answer.status} ${JSON.stringify(answer.body)}`,
    );
  return answer;
}

/** Creates a group with single sign-on and a SCIM token. */
export async function scimGroup(
  service: Service,
  owner: string,
  path: string,
  settings: Readonly<Record<string, unknown>> = {},
): Promise<ScimGroup> {
  const done = async (method: string, at: string, json?: unknown, token = owner) => {
    const answer = await service.call(method, at, { token, ...(json === undefined ? {} : { json }) });
    if (answer.status >= 300)
      throw new Error(`${method} ${at}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer.body;
  };
  const { id } = await done('POST', '/groups', { name: path, path });
  const sso = { enabled: true, sso_url: 'https://idp.example.com/sso', ...settings };
  await done(
    'PUT',
    `/groups/${id}/saml`,
    sso,
    'trusted_email_domains' in settings ? service.rootToken : owner,
  );
  const { token } = await done('POST', `/groups/${id}/scim_token`);
  const agent = (method: string, at: string, json?: unknown) =>
    scim(service, method, path + at, { token, ...(json === undefined ? {} : { json }) });
  return { id, path, token, agent };
}

export const CORE_USER = 'urn:ietf:params:scim:schemas:core:2.0:User';

/** The SCIM user resource that a provider sends for a new user. */
export const person = (name: string, more: Readonly<Record<string, unknown>> = {}) => ({
  schemas: [CORE_USER],
  externalId: `ext-${name}`,
  userName: name,
  name: { formatted: `${name} Person`, givenName: name, familyName: 'Person' },
  emails: [{ type: 'work', value: `${name}@corp.example`, primary: true }],
  active: true,
  ...more,
});

export const patchOf = (...Operations: readonly object[]) => ({
  schemas: ['urn:ietf:params:scim:api:messages:2.0:PatchOp'],
  Operations,
});
