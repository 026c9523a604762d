import * as z from 'zod';
import { shape } from '../../http/shape.ts';
import { TOKEN_SCOPES } from '../../store/records.ts';
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

export const token = shape(() => z.object(tokenFields()).meta({ id: 'PersonalAccessToken' }));
export const tokens = shape(() => z.array(token()));
export const tokenWithText = shape(() =>
  z
    .object({ ...tokenFields(), token: z.string().describe('Shown this once') })
    .meta({ id: 'NewPersonalAccessToken' }),
);
