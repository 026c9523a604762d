import * as z from 'zod';
import { shape } from '../../http/shape.ts';
import { day, userBasic } from '../users/shapes.ts';

export const projectShare = shape(() =>
  z
    .object({
      id: z.int(),
      project_id: z.int(),
      group_id: z.int(),
      group_access: z.int(),
      expires_at: day().nullable(),
    })
    .meta({ id: 'ProjectShare' }),
);

export const users = shape(() => z.array(userBasic()));

export const groups = shape(() =>
  z.array(
    z
      .object({
        id: z.int(),
        web_url: z.string(),
        name: z.string(),
        avatar_url: z.string().nullable(),
        full_name: z.string(),
        full_path: z.string(),
      })
      .meta({ id: 'GroupBasic' }),
  ),
);
