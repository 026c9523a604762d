import * as z from 'zod';
import { shape } from '../../http/shape.ts';

export const customAttribute = shape(() =>
  z.object({ key: z.string(), value: z.string() }).meta({ id: 'CustomAttribute' }),
);
export const customAttributes = shape(() => z.array(customAttribute()));
/** Among the fields of what they are of. */
export const customAttributesShown = () =>
  customAttributes().optional().describe('`with_custom_attributes=true`: for administrators');
