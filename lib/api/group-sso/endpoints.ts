import {
  changeSso,
  issueScimToken,
  revokeScimToken,
  scimTokenOf,
  ssoOf,
} from '../../domain/group-sso/settings.ts';
import { changeUser, removeUser } from '../../domain/scim/change.ts';
import {
  inItsPlace,
  samlUser,
  samlUsers,
  scimIdentities,
  scimIdentity,
} from '../../domain/scim/group-identities.ts';
import { group } from '../../http/access.ts';
import * as p from '../../http/params.ts';
import { noContent } from '../../http/reply.ts';
import type { AccessLevel } from '../../records/members.ts';
import { counted, endpoint } from '../endpoint.ts';
import * as present from './present.ts';
import * as shapes from './shapes.ts';

const shared = { area: 'group single sign-on', access: group('admin_group') } as const;
const absent = { status: 404, description: 'There is none' };
const conflict = { status: 409, description: 'It changed meanwhile' };
const uid = () => p.params({ uid: p.string({ required: true, description: 'External UID' }) });

const show = endpoint({
  ...shared,
  method: 'GET',
  path: '/groups/:id/saml',
  summary: "Get the settings of a group's single sign-on",
  returns: { body: shapes.provider },
  errors: [absent],
  handle: ({ group: access, request }) => present.provider(access.group, ssoOf(access), request.baseUrl),
});

const change = endpoint({
  ...shared,
  method: 'PUT',
  path: '/groups/:id/saml',
  summary: 'Set up the single sign-on of a top-level group, or change it',
  body: () =>
    p.params({
      enabled: p.boolean({ description: 'Whether the identity provider is let in' }),
      enforced_sso: p.boolean({ description: 'Whether members have to sign in by it' }),
      git_check_enforced: p.boolean({ description: 'The same for Git' }),
      sso_url: p.string({ maxLength: 1024, nullable: true, description: 'Of the identity provider' }),
      certificate_fingerprint: p.string({ maxLength: 255, nullable: true }),
      default_membership_role: p.integer({
        values: [10, 20, 30, 40, 50],
        description: 'What somebody becomes who comes from there',
      }),
      trusted_email_domains: p.list(p.string({ maxLength: 253 }), {
        maxItems: 100,
        description: 'Addresses of these need no confirmation; administrators',
      }),
    }),
  returns: { body: shapes.provider },
  errors: [conflict],
  handle: async ({ actor, group: access, body, request }, deps) => {
    const sso = await changeSso(deps, actor, access, {
      ...(body.enabled === undefined ? {} : { enabled: body.enabled }),
      ...(body.enforced_sso === undefined ? {} : { enforced: body.enforced_sso }),
      ...(body.git_check_enforced === undefined ? {} : { gitCheckEnforced: body.git_check_enforced }),
      ...(body.sso_url === undefined ? {} : { ssoUrl: body.sso_url || null }),
      ...(body.certificate_fingerprint === undefined
        ? {}
        : { certificateFingerprint: body.certificate_fingerprint || null }),
      ...(body.default_membership_role === undefined
        ? {}
        : { defaultRole: body.default_membership_role as AccessLevel }),
      ...(body.trusted_email_domains === undefined
        ? {}
        : { trustedDomains: [...new Set(body.trusted_email_domains.map((domain) => domain.toLowerCase()))] }),
    });
    return present.provider(access.group, sso, request.baseUrl);
  },
});

const showToken = endpoint({
  ...shared,
  method: 'GET',
  path: '/groups/:id/scim_token',
  summary: 'Get what is known of the SCIM token in force',
  returns: { body: shapes.token },
  errors: [absent],
  handle: async ({ group: access, request }, deps) =>
    present.token(await scimTokenOf(deps, access), access.group, request.baseUrl),
});

const issueToken = endpoint({
  ...shared,
  method: 'POST',
  path: '/groups/:id/scim_token',
  summary: 'Issue a SCIM token',
  description: 'The former one ends at once.',
  returns: { body: shapes.tokenWithText },
  errors: [conflict],
  handle: async ({ actor, group: access, request }, deps) => {
    const { token, text } = await issueScimToken(deps, actor, access);
    return { ...present.token(token, access.group, request.baseUrl), token: text };
  },
});

const revokeToken = endpoint({
  ...shared,
  method: 'DELETE',
  path: '/groups/:id/scim_token',
  summary: 'Revoke the SCIM token',
  returns: { status: 204 },
  errors: [absent, conflict],
  handle: async ({ actor, group: access, unmodifiedSince }, deps) => {
    unmodifiedSince((await scimTokenOf(deps, access)).createdAt);
    await revokeScimToken(deps, actor, access);
    return noContent();
  },
});

const listSaml = endpoint({
  ...shared,
  method: 'GET',
  path: '/groups/:id/saml/identities',
  summary: 'List who signs in at the identity provider of a group',
  paginate: 'offset',
  returns: { body: shapes.samlIdentities },
  errors: [absent],
  handle: async ({ group: access, page }, deps) => {
    const users = await samlUsers(deps, access, counted(page));
    return { ...users, items: users.items.map((user) => present.samlIdentity(user, access.group)) };
  },
});

const getSaml = endpoint({
  ...shared,
  method: 'GET',
  path: '/groups/:id/saml/:uid',
  summary: 'Get one of them',
  params: uid,
  returns: { body: shapes.samlIdentity },
  errors: [absent],
  handle: async ({ group: access, params }, deps) =>
    present.samlIdentity(await samlUser(deps, access, params.uid), access.group),
});

const listScim = endpoint({
  ...shared,
  method: 'GET',
  path: '/groups/:id/scim/identities',
  summary: 'List whom the identity provider of a group has provisioned',
  paginate: 'offset',
  returns: { body: shapes.scimIdentities },
  errors: [absent],
  handle: async ({ group: access, page }, deps) => {
    const found = await scimIdentities(deps, access, counted(page));
    return { ...found, items: found.items.map(present.scimIdentity) };
  },
});

const getScim = endpoint({
  ...shared,
  method: 'GET',
  path: '/groups/:id/scim/:uid',
  summary: 'Get one of them',
  params: uid,
  returns: { body: shapes.scimIdentity },
  errors: [absent],
  handle: async ({ group: access, params }, deps) =>
    present.scimIdentity(await scimIdentity(deps, access, params.uid)),
});

/** The identity and the sign-in by it are one. */
const rename = (kind: 'saml' | 'scim') =>
  endpoint({
    ...shared,
    method: 'PATCH',
    path: `/groups/:id/${kind}/:uid`,
    summary: 'Change what the identity provider calls somebody',
    params: uid,
    body: () => p.params({ extern_uid: p.string({ required: true, blank: false, maxLength: 255 }) }),
    returns: { status: 204 },
    errors: [absent, { status: 409, description: 'Somebody else is called that' }],
    handle: async ({ actor, group: access, params, body, request }, deps) => {
      const caller = inItsPlace(actor, access, request.baseUrl);
      // Who was let go, or had an account before, does not sign in there.
      if (kind === 'saml') await samlUser(deps, access, params.uid);
      await changeUser(deps, caller, params.uid, { externUid: body.extern_uid });
      return noContent();
    },
  });

const removeScim = endpoint({
  ...shared,
  method: 'DELETE',
  path: '/groups/:id/scim/:uid',
  summary: 'Let somebody go as the identity provider would',
  params: uid,
  returns: { status: 204 },
  errors: [absent, { status: 409, description: 'The last owner of the group' }],
  handle: async ({ actor, group: access, params, request, unmodifiedSince }, deps) => {
    unmodifiedSince((await scimIdentity(deps, access, params.uid)).updatedAt);
    await removeUser(deps, inItsPlace(actor, access, request.baseUrl), params.uid);
    return noContent();
  },
});

export const groupSsoEndpoints = [
  show,
  change,
  showToken,
  issueToken,
  revokeToken,
  listSaml,
  getSaml,
  rename('saml'),
  listScim,
  getScim,
  rename('scim'),
  removeScim,
];
