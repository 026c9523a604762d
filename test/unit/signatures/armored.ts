/** An armored block without checksum. */
export const armored = (label: string, data: Uint8Array): string =>
  `-----BEGIN ${label}-----\n\n${Buffer.from(data).toString('base64')}\n-----END ${label}-----\n`;

/** The data of a block. */
export const binary = (text: string): Buffer =>
  Buffer.from(text.replace(/^-.*$/gm, '').replace(/^=.*$/gm, '').trim(), 'base64');
