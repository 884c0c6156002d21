/** As much of the optional peer dependency as nest.ts needs, which is not installed here. */
declare module '@nestjs/common' {
  export class HttpException extends Error {
    constructor(response: object, status: number);
  }
}
