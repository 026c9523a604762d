import * as z from 'zod';
import { shape } from '../../http/shape.ts';
import { time, userBasic } from '../users/shapes.ts';

export const award = shape(() =>
  z
    .object({
      id: z.int(),
      name: z.string().describe('Name of the emoji, without colons'),
      user: userBasic(),
      created_at: time(),
      updated_at: time(),
      awardable_id: z.int().describe('ID of the object or note that was awarded'),
      awardable_type: z.enum(['Commit', 'Issue', 'MergeRequest', 'Snippet', 'Epic', 'Note']),
    })
    .meta({ id: 'AwardEmoji' }),
);
export const awards = shape(() => z.array(award()));
