/**
 * Where the pixels of a stored picture lie once it stands upright: stored pixel (x, y) becomes pixel
 * `start + x * stepX + y * stepY` of an upright picture, counted row by row.
 */
export interface UprightLayout {
  readonly width: number
  readonly height: number
  readonly start: number
  readonly stepX: number
  readonly stepY: number
}

/**
 * @param orientation EXIF orientation, 1 to 8 (CIPA DC-008, tag 0x0112): which sides of the upright picture the first
 *   row and the first column of the stored one are.
 */
export function uprightLayout(width: number, height: number, orientation: number): UprightLayout {
  const lastX = width - 1
  const lastY = height - 1
  const lying = { width, height }
  const turned = { width: height, height: width }
  switch (orientation) {
    case 2:
      return { ...lying, start: lastX, stepX: -1, stepY: width }
    case 3:
      return { ...lying, start: lastY * width + lastX, stepX: -1, stepY: -width }
    case 4:
      return { ...lying, start: lastY * width, stepX: 1, stepY: -width }
    case 5:
      return { ...turned, start: 0, stepX: height, stepY: 1 }
    case 6:
      return { ...turned, start: lastY, stepX: height, stepY: -1 }
    case 7:
      return { ...turned, start: lastX * height + lastY, stepX: -height, stepY: -1 }
    case 8:
      return { ...turned, start: lastX * height, stepX: -height, stepY: 1 }
    default:
      return { ...lying, start: 0, stepX: 1, stepY: width }
  }
}
