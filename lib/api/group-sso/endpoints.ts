import {
  changeSso,
  issueScimToken,
  revokeScimToken,
  scimTokenOf,
  ssoOf,
} from '../../domain/group-sso/settings.ts';
import { changeUser, removeUser } from '../../domain/scim/change.ts';
import {
  samlUser,
  samlUsers,
  scimCall,
  scimIdentities,
  scimIdentity,
} from '../../domain/scim/group-identities.ts';
import { group } from '../../http/access.ts';
import * as p from '../../http/params.ts';
import { noContent } from '../../http/reply.ts';
import type { AccessLevel } from '../../records/members.ts';
import { BY_ROWS, counted, endpoint } from '../endpoint.ts';
import * as present from './present.ts';
import * as shapes from './shapes.ts';

const sharedDeclaration = { area: 'group single sign-on', access: group('admin_group') } as const;
const noProvider = { status: 404, description: 'Single sign-on is not configured for the group' };
const noToken = { status: 404, description: 'SCIM token not found' };
const noIdentity = { status: 404, description: 'Identity not found' };
const conflict = { status: 409, description: 'Changed by a concurrent request' };
const uid = () =>
  p.params({
    uid: p.string({ required: true, description: 'External UID of the user at the identity provider' }),
  });

const show = endpoint({
  ...sharedDeclaration,
  method: 'GET',
  path: '/groups/:id/saml',
  summary: 'Get the single sign-on settings of a group',
  returns: { body: shapes.provider },
  errors: [noProvider],
  handle: ({ group: access, request }) => present.provider(access.group, ssoOf(access), request.baseUrl),
});

const update = endpoint({
  ...sharedDeclaration,
  method: 'PUT',
  path: '/groups/:id/saml',
  summary: 'Update the single sign-on settings of a group',
  description: 'Only for top-level groups. Parameters that are absent keep their values.',
  body: () =>
    p.params({
      enabled: p.boolean({ description: 'Enable single sign-on for the group' }),
      enforced_sso: p.boolean({ description: 'Require members to sign in through the identity provider' }),
      git_check_enforced: p.boolean({ description: 'Require single sign-on for Git operations' }),
      sso_url: p.string({
        maxLength: 1024,
        nullable: true,
        description: 'Single sign-on URL of the identity provider',
      }),
      certificate_fingerprint: p.string({
        maxLength: 255,
        nullable: true,
        description:
          'SHA-1 or SHA-256 fingerprint of the certificate of the identity provider, in hexadecimal',
      }),
      default_membership_role: p.integer({
        values: [10, 20, 30, 40, 50],
        description:
          'Access level of users whom the identity provider adds to the group: 10 (Guest), 20 (Reporter), 30 (Developer), 40 (Maintainer) or 50 (Owner)',
      }),
      trusted_email_domains: p.list(p.string({ maxLength: 253 }), {
        maxItems: 100,
        description: 'Email domains whose addresses need no confirmation. Administrators only',
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
  ...sharedDeclaration,
  method: 'GET',
  path: '/groups/:id/scim_token',
  summary: 'Get the SCIM token of a group',
  description: 'Returns the properties of the active token, not its value.',
  returns: { body: shapes.token },
  errors: [noToken],
  handle: async ({ group: access, request }, deps) =>
    present.token(await scimTokenOf(deps, access), access.group, request.baseUrl),
});

const issueToken = endpoint({
  ...sharedDeclaration,
  method: 'POST',
  path: '/groups/:id/scim_token',
  summary: 'Create a SCIM token for a group',
  description: 'Revokes the previous token. The value of the token is returned only in this response.',
  returns: { body: shapes.tokenWithText },
  errors: [conflict],
  handle: async ({ actor, group: access, request }, deps) => {
    const { token, text } = await issueScimToken(deps, actor, access);
    return { ...present.token(token, access.group, request.baseUrl), token: text };
  },
});

const revokeToken = endpoint({
  ...sharedDeclaration,
  method: 'DELETE',
  path: '/groups/:id/scim_token',
  summary: 'Revoke the SCIM token of a group',
  returns: { status: 204 },
  errors: [noToken, conflict],
  handle: async ({ actor, group: access, unmodifiedSince }, deps) => {
    unmodifiedSince((await scimTokenOf(deps, access)).createdAt);
    await revokeScimToken(deps, actor, access);
    return noContent();
  },
});

const listSaml = endpoint({
  ...sharedDeclaration,
  method: 'GET',
  path: '/groups/:id/saml/identities',
  summary: 'List the SAML identities of a group',
  ...BY_ROWS,
  returns: { body: shapes.samlIdentities },
  errors: [noProvider],
  handle: async ({ group: access, page }, deps) => {
    const users = await samlUsers(deps, access, counted(page));
    return { ...users, items: users.items.map((user) => present.samlIdentity(user, access.group)) };
  },
});

const getSaml = endpoint({
  ...sharedDeclaration,
  method: 'GET',
  path: '/groups/:id/saml/:uid',
  summary: 'Get a SAML identity of a group',
  params: uid,
  returns: { body: shapes.samlIdentity },
  errors: [noIdentity],
  handle: async ({ group: access, params }, deps) =>
    present.samlIdentity(await samlUser(deps, access, params.uid), access.group),
});

const listScim = endpoint({
  ...sharedDeclaration,
  method: 'GET',
  path: '/groups/:id/scim/identities',
  summary: 'List the SCIM identities of a group',
  paginate: 'offset',
  returns: { body: shapes.scimIdentities },
  errors: [noProvider],
  handle: async ({ group: access, page }, deps) => {
    const found = await scimIdentities(deps, access, counted(page));
    return { ...found, items: found.items.map(present.scimIdentity) };
  },
});

const getScim = endpoint({
  ...sharedDeclaration,
  method: 'GET',
  path: '/groups/:id/scim/:uid',
  summary: 'Get a SCIM identity of a group',
  params: uid,
  returns: { body: shapes.scimIdentity },
  errors: [noIdentity],
  handle: async ({ group: access, params }, deps) =>
    present.scimIdentity(await scimIdentity(deps, access, params.uid)),
});

/** Both endpoints change the same external UID: users sign in with the identity that SCIM provisioned. */
const updateExternUid = (kind: 'saml' | 'scim') =>
  endpoint({
    ...sharedDeclaration,
    method: 'PATCH',
    path: `/groups/:id/${kind}/:uid`,
    summary: `Update the external UID of a ${kind === 'saml' ? 'SAML' : 'SCIM'} identity`,
    params: uid,
    body: () =>
      p.params({
        extern_uid: p.string({
          required: true,
          blank: false,
          maxLength: 255,
          description: 'New external UID of the user, at most 255 characters',
        }),
      }),
    returns: { status: 204 },
    errors: [noIdentity, { status: 409, description: 'Another user of the group has this external UID' }],
    handle: async ({ actor, group: access, params, body, request }, deps) => {
      const caller = scimCall(actor, access, request.baseUrl);
      // Deprovisioned users, and accounts that existed before SCIM, have no SAML identity.
      if (kind === 'saml') await samlUser(deps, access, params.uid);
      await changeUser(deps, caller, params.uid, { externUid: body.extern_uid });
      return noContent();
    },
  });

const removeScim = endpoint({
  ...sharedDeclaration,
  method: 'DELETE',
  path: '/groups/:id/scim/:uid',
  summary: 'Delete a SCIM identity of a group',
  description: 'Deprovisions the user, as a SCIM request of the identity provider does.',
  params: uid,
  returns: { status: 204 },
  errors: [noIdentity, { status: 409, description: 'The user is the last owner of the group' }],
  handle: async ({ actor, group: access, params, request, unmodifiedSince }, deps) => {
    unmodifiedSince((await scimIdentity(deps, access, params.uid)).updatedAt);
    await removeUser(deps, scimCall(actor, access, request.baseUrl), params.uid);
    return noContent();
  },
});

export const groupSsoEndpoints = [
  show,
  update,
  showToken,
  issueToken,
  revokeToken,
  listSaml,
  getSaml,
  updateExternUid('saml'),
  listScim,
  getScim,
  updateExternUid('scim'),
  removeScim,
];
