import * as z from 'zod';
import { shape } from '../../http/shape.ts';

export const customAttribute = shape(() =>
  z.object({ key: z.string(), value: z.string() }).meta({ id: 'CustomAttribute' }),
);
export const customAttributes = shape(() => z.array(customAttribute()));
/** The field `custom_attributes` of a user, group or project. */
export const customAttributesShown = () =>
  customAttributes()
    .optional()
    .describe('Custom attributes; only for administrators, and only with `with_custom_attributes=true`');
