import * as z from 'zod';
import { shape } from '../../http/shape.ts';

const license = () =>
  z
    .object({
      key: z.string(),
      name: z.string(),
      nickname: z.string().nullable(),
      html_url: z.string(),
      source_url: z.null(),
      popular: z.boolean(),
      description: z.string(),
      conditions: z.array(z.string()),
      permissions: z.array(z.string()),
      limitations: z.array(z.string()),
      content: z
        .string()
        .describe('Text; where a value was given or is known, it stands for its placeholder'),
    })
    .meta({ id: 'LicenseTemplate' });
const file = () => z.object({ name: z.string(), content: z.string() }).meta({ id: 'FileTemplate' });

export const licenses = shape(() => z.array(license()));
export const licenseShown = shape(license);
export const fileShown = shape(file);
export const listed = shape(() => z.array(z.object({ key: z.string(), name: z.string() })));
export const anyShown = shape(() => z.union([license(), file()]));
