/** Schemas of fields that bodies of jobs share. Functions, so that importing this file builds nothing. */

import * as z from 'zod/mini';
import type { MemberSource } from '../records/members.ts';

/** The id of a project, group or user. */
export const idField = () => z.number();

export const textField = () => z.string().check(z.minLength(1));

export const sourceKindField = () => z.enum(['project', 'group']);

export const sourceField = (): z.ZodMiniType<MemberSource> =>
  z.object({ kind: sourceKindField(), id: idField() });
