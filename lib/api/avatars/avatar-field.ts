import * as p from '../../http/params.ts';

const options = {
  nullable: true,
  description: 'PNG, JPEG, GIF, WebP, BMP, TIFF or icon of at most 200 KiB; an empty text takes it away',
} as const;

/** The parameter `avatar` of what has one. */
export const avatarField = () => p.file(options);
export const requiredAvatarField = () => p.file({ ...options, required: true });
