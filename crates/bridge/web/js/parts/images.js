// Pictures to go with a message.

/** @import { Image } from '../types.js' */

/** What the model takes. */
const KINDS = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'];
const LARGEST = 4 * 1024 * 1024;
const MOST = 6;
/** Larger pictures tell the model nothing more. */
const LONGEST_EDGE = 1568;

/**
 * Reads pictures, made smaller where they are larger than a model looks at.
 *
 * @param {File[]} files
 * @param {number} have
 * @returns {Promise<{images: Image[], problems: string[]}>}
 */
export async function readImages(files, have) {
  /** @type {Image[]} */
  const images = [];
  /** @type {string[]} */
  const problems = [];
  for (const file of files) {
    if (!file.type.startsWith('image/')) problems.push(`${file.name} is not an image.`);
    else if (have + images.length >= MOST) problems.push(`A message takes at most ${MOST} images.`);
    else {
      const image = await readImage(file);
      if (image === null) problems.push(`${file.name || 'The image'} is too large or cannot be read.`);
      else images.push(image);
    }
  }
  return { images, problems };
}

/** @param {File} file @returns {Promise<Image | null>} */
async function readImage(file) {
  try {
    const bitmap = await createImageBitmap(file);
    const longest = Math.max(bitmap.width, bitmap.height);
    if (KINDS.includes(file.type) && longest <= LONGEST_EDGE && file.size <= LARGEST) {
      return { mediaType: file.type, data: await base64(file) };
    }
    const scale = Math.min(1, LONGEST_EDGE / longest);
    const canvas = new OffscreenCanvas(Math.round(bitmap.width * scale), Math.round(bitmap.height * scale));
    canvas.getContext('2d')?.drawImage(bitmap, 0, 0, canvas.width, canvas.height);
    const small = await canvas.convertToBlob({ type: 'image/jpeg', quality: 0.86 });
    return small.size > LARGEST ? null : { mediaType: 'image/jpeg', data: await base64(small) };
  } catch {
    return null;
  }
}

/** @param {Blob} blob @returns {Promise<string>} */
function base64(blob) {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result).replace(/^[^,]*,/, ''));
    reader.onerror = () => reject(reader.error ?? new Error('unreadable'));
    reader.readAsDataURL(blob);
  });
}
