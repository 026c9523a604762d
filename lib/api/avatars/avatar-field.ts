import * as p from '../../http/params.ts';

const options = {
  nullable: true,
  description:
    'Image file (PNG, JPEG, GIF, WebP, BMP, TIFF or ICO) of at most 200 KiB; an empty value removes the avatar',
} as const;

/** The parameter `avatar` of users, groups and projects. */
export const avatarField = () => p.file(options);
export const requiredAvatarField = () => p.file({ ...options, required: true });
