import * as z from 'zod';
import type { Dialect } from '../../http/dialect.ts';
import { shape } from '../../http/shape.ts';

const ERROR = 'urn:ietf:params:scim:api:messages:2.0:Error';

/** Media types and errors of SCIM (RFC 7644, 3.1 and 3.12). `status` is a number, as existing clients expect. */
export const scim: Dialect = {
  type: 'application/scim+json',
  takes: ['application/scim+json', 'application/json'],
  failure: (status, detail, { scimType }) => ({
    schemas: [ERROR],
    detail,
    status,
    ...(scimType === undefined ? {} : { scimType }),
  }),
  failureShape: shape(() =>
    z
      .object({
        schemas: z.array(z.literal(ERROR)),
        detail: z.string(),
        status: z.int(),
        scimType: z.string().optional(),
      })
      .meta({ id: 'ScimError' }),
  ),
};
