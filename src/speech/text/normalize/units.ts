/** Units of measure after numbers. Those of one letter that are also words or names are left out. */

/** One, several, and in Chinese. */
export type UnitName = readonly [singular: string, plural: string, chinese: string]

export const UNITS: Readonly<Record<string, UnitName>> = {
  km: ['kilometer', 'kilometers', '公里'],
  m: ['meter', 'meters', '米'],
  cm: ['centimeter', 'centimeters', '厘米'],
  mm: ['millimeter', 'millimeters', '毫米'],
  ft: ['foot', 'feet', '英尺'],
  mi: ['mile', 'miles', '英里'],
  'm²': ['square meter', 'square meters', '平方米'],
  'km²': ['square kilometer', 'square kilometers', '平方公里'],
  'cm²': ['square centimeter', 'square centimeters', '平方厘米'],
  'm³': ['cubic meter', 'cubic meters', '立方米'],
  kg: ['kilogram', 'kilograms', '公斤'],
  g: ['gram', 'grams', '克'],
  mg: ['milligram', 'milligrams', '毫克'],
  lb: ['pound', 'pounds', '磅'],
  lbs: ['pound', 'pounds', '磅'],
  oz: ['ounce', 'ounces', '盎司'],
  L: ['liter', 'liters', '升'],
  l: ['liter', 'liters', '升'],
  ml: ['milliliter', 'milliliters', '毫升'],
  mL: ['milliliter', 'milliliters', '毫升'],
  'km/h': ['kilometer per hour', 'kilometers per hour', '公里每小时'],
  'm/s': ['meter per second', 'meters per second', '米每秒'],
  mph: ['mile per hour', 'miles per hour', '英里每小时'],
  min: ['minute', 'minutes', '分钟'],
  ms: ['millisecond', 'milliseconds', '毫秒'],
  '°C': ['degree Celsius', 'degrees Celsius', '摄氏度'],
  '℃': ['degree Celsius', 'degrees Celsius', '摄氏度'],
  '°F': ['degree Fahrenheit', 'degrees Fahrenheit', '华氏度'],
  '℉': ['degree Fahrenheit', 'degrees Fahrenheit', '华氏度'],
  '°': ['degree', 'degrees', '度'],
  KB: ['kilobyte', 'kilobytes', 'KB'],
  kB: ['kilobyte', 'kilobytes', 'KB'],
  MB: ['megabyte', 'megabytes', '兆'],
  GB: ['gigabyte', 'gigabytes', 'GB'],
  TB: ['terabyte', 'terabytes', 'TB'],
  Hz: ['hertz', 'hertz', '赫兹'],
  kHz: ['kilohertz', 'kilohertz', '千赫兹'],
  MHz: ['megahertz', 'megahertz', '兆赫兹'],
  GHz: ['gigahertz', 'gigahertz', '吉赫兹'],
  W: ['watt', 'watts', '瓦'],
  kW: ['kilowatt', 'kilowatts', '千瓦'],
  kWh: ['kilowatt hour', 'kilowatt hours', '千瓦时'],
  V: ['volt', 'volts', '伏'],
  mAh: ['milliampere hour', 'milliampere hours', '毫安时'],
}

/** A group of one unit, the longest that fits, with no letter or digit behind. */
export const UNIT = `(${Object.keys(UNITS)
  .sort((a, b) => b.length - a.length)
  .map((unit) => unit.replace('/', '\\/'))
  .join('|')})(?![A-Za-z0-9²³])`
