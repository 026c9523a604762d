import * as z from 'zod';
import { shape } from '../../http/shape.ts';
import { DEPLOY_TOKEN_SCOPES, TOKEN_SCOPES } from '../../records/tokens.ts';
import { day, time } from '../users/shapes.ts';

const tokenFields = () => ({
  id: z.int(),
  name: z.string(),
  revoked: z.boolean(),
  created_at: time(),
  scopes: z.array(z.enum(TOKEN_SCOPES)),
  user_id: z.int(),
  last_used_at: time().nullable(),
  active: z.boolean(),
  expires_at: day().nullable(),
});
const text = () => ({ token: z.string().describe('Text of the token; not shown again') });

export const token = shape(() => z.object(tokenFields()).meta({ id: 'PersonalAccessToken' }));
export const tokens = shape(() => z.array(token()));
export const tokenWithText = shape(() =>
  z.object({ ...tokenFields(), ...text() }).meta({ id: 'NewPersonalAccessToken' }),
);

const impersonationFields = () => ({ ...tokenFields(), impersonation: z.literal(true) });

export const impersonationToken = shape(() =>
  z.object(impersonationFields()).meta({ id: 'ImpersonationToken' }),
);
export const impersonationTokens = shape(() => z.array(impersonationToken()));
export const impersonationTokenWithText = shape(() =>
  z.object({ ...impersonationFields(), ...text() }).meta({ id: 'NewImpersonationToken' }),
);

const botFields = () => ({
  ...tokenFields(),
  access_level: z.int().describe('Access level of the bot user'),
});

export const botToken = shape(() => z.object(botFields()).meta({ id: 'AccessToken' }));
export const botTokens = shape(() => z.array(botToken()));
export const botTokenWithText = shape(() =>
  z.object({ ...botFields(), ...text() }).meta({ id: 'NewAccessToken' }),
);

const deployFields = () => ({
  id: z.int(),
  name: z.string(),
  username: z.string(),
  expires_at: time().nullable(),
  scopes: z.array(z.enum(DEPLOY_TOKEN_SCOPES)),
  revoked: z.boolean(),
  expired: z.boolean(),
});

export const deployToken = shape(() => z.object(deployFields()).meta({ id: 'DeployToken' }));
export const deployTokens = shape(() => z.array(deployToken()));
export const deployTokenWithText = shape(() =>
  z.object({ ...deployFields(), ...text() }).meta({ id: 'NewDeployToken' }),
);
