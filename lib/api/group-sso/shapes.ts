import * as z from 'zod';
import { shape } from '../../http/shape.ts';

const time = () => z.iso.datetime();

export const provider = shape(() =>
  z
    .object({
      id: z.int().describe('ID of the provider: the `saml_provider_id` of identities'),
      group_id: z.int(),
      enabled: z.boolean(),
      enforced_sso: z.boolean(),
      git_check_enforced: z.boolean(),
      sso_url: z.string().nullable(),
      certificate_fingerprint: z.string().nullable(),
      default_membership_role: z.int(),
      trusted_email_domains: z.array(z.string()),
      scim_url: z.string().describe('Base URL of the SCIM API for the identity provider'),
    })
    .meta({ id: 'GroupSamlProvider' }),
);

const tokenFields = () => ({ created_at: time(), created_by_id: z.int(), scim_url: z.string() });
export const token = shape(() => z.object(tokenFields()).meta({ id: 'ScimToken' }));
export const tokenWithText = shape(() =>
  z
    .object({
      ...tokenFields(),
      token: z.string().describe('Value of the token, returned only when the token is created'),
    })
    .meta({ id: 'ScimTokenWithText' }),
);

export const samlIdentity = shape(() =>
  z.object({ extern_uid: z.string(), user_id: z.int() }).meta({ id: 'GroupSamlIdentity' }),
);
export const samlIdentities = shape(() => z.array(samlIdentity()));
export const scimIdentity = shape(() =>
  z
    .object({ extern_uid: z.string(), user_id: z.int(), active: z.boolean() })
    .meta({ id: 'GroupScimIdentity' }),
);
export const scimIdentities = shape(() => z.array(scimIdentity()));
