import { notAcceptable } from '../../domain/errors.ts';

/** Where a browser puts what it fetches, when it is neither a page nor a script's own request. */
const EMBEDDED = /^(audio|audioworklet|embed|font|image|manifest|object|script|style|track|video|worker)$/;
const MEDIA = /^(image|video|audio)\/|^(text\/css|application\/ogg)$/;

/**
 * Somebody else's page that shows an archive as an image, a script or a style makes every visitor of it fetch one.
 * @throws 406 for such requests, told by Fetch Metadata or by what they accept
 */
export function refuseHotlink(headers: Headers): void {
  const accepted = (headers.get('accept') ?? '')
    .split(',')
    .map((type) => type.split(';')[0]!.trim().toLowerCase())
    .filter((type) => type !== '');
  const onlyMedia = accepted.length > 0 && accepted.every((type) => MEDIA.test(type));
  if (onlyMedia || EMBEDDED.test(headers.get('sec-fetch-dest') ?? '')) throw notAcceptable();
}
