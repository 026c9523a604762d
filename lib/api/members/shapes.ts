import * as z from 'zod';
import { shape } from '../../http/shape.ts';
import { basicFields, day, time } from '../users/shapes.ts';

export const accessRequest = shape(() =>
  z.object({ ...basicFields(), requested_at: time() }).meta({ id: 'AccessRequest' }),
);
export const accessRequests = shape(() => z.array(accessRequest()));

export const invitation = shape(() =>
  z
    .object({
      id: z.int(),
      invite_email: z.string(),
      created_at: time(),
      access_level: z.int(),
      expires_at: day().nullable(),
      created_by_name: z.string().nullable(),
    })
    .meta({ id: 'Invitation' }),
);
export const invitations = shape(() => z.array(invitation()));
export const invited = shape(() =>
  z.object({
    status: z.enum(['success', 'error']),
    message: z
      .union([z.string(), z.record(z.string(), z.string())])
      .optional()
      .describe('Reasons for the failures, by address or username'),
  }),
);

export const imported = shape(() =>
  z.object({ status: z.literal('success'), message: z.literal('Successfully imported') }),
);

const billableMember = shape(() =>
  z
    .object({
      ...basicFields(),
      email: z.string().nullable().describe('Public email address; null when the user has none'),
      last_activity_on: day().nullable(),
      membership_type: z.enum(['group_member', 'project_member', 'group_invite', 'project_invite']),
      removable: z.boolean().describe('False for members of an invited group'),
      created_at: time(),
    })
    .meta({ id: 'BillableMember' }),
);
export const billableMembers = shape(() => z.array(billableMember()));

const billableMembership = shape(() =>
  z
    .object({
      id: z.int(),
      source_id: z.int(),
      source_full_name: z.string(),
      source_members_url: z.string(),
      created_at: time(),
      expires_at: day().nullable(),
      access_level: z.object({ string_value: z.string(), integer_value: z.int() }),
    })
    .meta({ id: 'BillableMembership' }),
);
export const billableMemberships = shape(() => z.array(billableMembership()));
