import * as z from 'zod';
import { shape } from '../../http/shape.ts';

export const USER = 'urn:ietf:params:scim:schemas:core:2.0:User';
export const LIST = 'urn:ietf:params:scim:api:messages:2.0:ListResponse';

/** Everything but `schemas` and `id` is optional, because callers can select attributes. */
export const user = shape(() =>
  z
    .object({
      schemas: z.array(z.literal(USER)),
      id: z.string().describe('SCIM id of the user (external UID)'),
      externalId: z.string().optional(),
      userName: z.string().optional(),
      name: z
        .object({
          formatted: z.string().optional(),
          givenName: z.string().optional(),
          familyName: z.string().optional(),
        })
        .optional(),
      displayName: z.string().optional(),
      active: z.boolean().optional(),
      emails: z
        .array(
          z.object({
            type: z.literal('work').optional(),
            value: z.string().optional(),
            primary: z.literal(true).optional(),
          }),
        )
        .optional(),
      meta: z
        .object({
          resourceType: z.literal('User').optional(),
          created: z.iso.datetime().optional(),
          lastModified: z.iso.datetime().optional(),
          location: z.string().optional(),
        })
        .optional(),
    })
    .meta({ id: 'ScimUser' }),
);

const listOf = (resource: z.ZodType, id: string) =>
  z
    .object({
      schemas: z.array(z.literal(LIST)),
      totalResults: z.int(),
      itemsPerPage: z.int(),
      startIndex: z.int(),
      Resources: z.array(resource),
    })
    .meta({ id });

export const users = shape(() => listOf(user(), 'ScimUsers'));

/** A discovery document (RFC 7643, 5 to 7). */
const discoveryDocument = () => z.looseObject({ schemas: z.array(z.string()) });
export const description = shape(() => discoveryDocument().meta({ id: 'ScimDescription' }));
export const descriptions = shape(() => listOf(discoveryDocument(), 'ScimDescriptions'));
