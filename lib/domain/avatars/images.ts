/** Type and dimensions of uploaded images, read from their headers. Images are never decoded. */
import { BMP } from 'image-size/types/bmp';
import { GIF } from 'image-size/types/gif';
import { ICO } from 'image-size/types/ico';
import { JPG } from 'image-size/types/jpg';
import { PNG } from 'image-size/types/png';
import { TIFF } from 'image-size/types/tiff';
import { WEBP } from 'image-size/types/webp';

/** In the order in which they are tried: the most specific signatures first. */
const FORMATS = {
  'image/png': PNG,
  'image/jpeg': JPG,
  'image/gif': GIF,
  'image/webp': WEBP,
  'image/bmp': BMP,
  'image/tiff': TIFF,
  'image/vnd.microsoft.icon': ICO,
} as const;

export type ImageType = keyof typeof FORMATS;
export const IMAGE_TYPES = Object.keys(FORMATS) as ImageType[];

export interface Image {
  readonly type: ImageType;
  /** In pixels; of the largest picture in the file. */
  readonly width: number;
  readonly height: number;
}

/** @returns undefined if the format is unknown or the header is truncated */
export function readImage(given: Uint8Array): Image | undefined {
  // Copies: the readers use the underlying buffer, which may hold other data behind a view's end.
  const bytes = new Uint8Array(given);
  for (const type of IMAGE_TYPES) {
    try {
      if (!FORMATS[type].validate(bytes)) continue;
      const size = FORMATS[type].calculate(bytes);
      const all = [size, ...(size.images ?? []), ...(type === IMAGE_TYPES.at(-1) ? picturesOf(bytes) : [])];
      const width = Math.max(...all.map((picture) => picture.width));
      const height = Math.max(...all.map((picture) => picture.height));
      return width > 0 && height > 0 ? { type, width, height } : undefined;
    } catch {
      return undefined;
    }
  }
  return undefined;
}

const ICON_HEADER = 6;
const ICON_ENTRY = 16;

/** Sizes of the PNGs in an icon; the icon's directory may state others. */
function* picturesOf(icon: Uint8Array): Generator<{ width: number; height: number }> {
  const view = new DataView(icon.buffer);
  const count = view.getUint16(4, true);
  for (let i = 0; i < count; i++) {
    const picture = icon.subarray(view.getUint32(ICON_HEADER + i * ICON_ENTRY + 12, true)).slice(0, 64);
    if (PNG.validate(picture)) yield PNG.calculate(picture);
  }
}
