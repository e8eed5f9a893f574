package dev.weft.http;

/** What the numbers of responses mean. */
final class Status {
  static final int SWITCHING_PROTOCOLS = 101;

  /** Lower ones are not those of a response, but of what comes before it: RFC 9110, section 15. */
  static final int LEAST_FINAL = 200;

  static final int NO_CONTENT = 204;
  static final int RESET_CONTENT = 205;
  static final int NOT_MODIFIED = 304;
  static final int BAD_REQUEST = 400;
  static final int NOT_FOUND = 404;
  static final int CONTENT_TOO_LARGE = 413;
  static final int URI_TOO_LONG = 414;
  static final int EXPECTATION_FAILED = 417;
  static final int HEADERS_TOO_LARGE = 431;
  static final int INTERNAL_ERROR = 500;
  static final int NOT_IMPLEMENTED = 501;
  static final int UNAVAILABLE = 503;
  static final int VERSION_NOT_SUPPORTED = 505;

  private Status() {}

  /** Returns the words behind a number; empty for a number that has none. */
  static String reason(int status) {
    return switch (status) {
      case 100 -> "Continue";
      case SWITCHING_PROTOCOLS -> "Switching Protocols";
      case 200 -> "OK";
      case 201 -> "Created";
      case 202 -> "Accepted";
      case 203 -> "Non-Authoritative Information";
      case NO_CONTENT -> "No Content";
      case RESET_CONTENT -> "Reset Content";
      case 206 -> "Partial Content";
      case 300 -> "Multiple Choices";
      case 301 -> "Moved Permanently";
      case 302 -> "Found";
      case 303 -> "See Other";
      case NOT_MODIFIED -> "Not Modified";
      case 307 -> "Temporary Redirect";
      case 308 -> "Permanent Redirect";
      case BAD_REQUEST -> "Bad Request";
      case 401 -> "Unauthorized";
      case 402 -> "Payment Required";
      case 403 -> "Forbidden";
      case NOT_FOUND -> "Not Found";
      case 405 -> "Method Not Allowed";
      case 406 -> "Not Acceptable";
      case 407 -> "Proxy Authentication Required";
      case 408 -> "Request Timeout";
      case 409 -> "Conflict";
      case 410 -> "Gone";
      case 411 -> "Length Required";
      case 412 -> "Precondition Failed";
      case CONTENT_TOO_LARGE -> "Content Too Large";
      case URI_TOO_LONG -> "URI Too Long";
      case 415 -> "Unsupported Media Type";
      case 416 -> "Range Not Satisfiable";
      case EXPECTATION_FAILED -> "Expectation Failed";
      case 421 -> "Misdirected Request";
      case 422 -> "Unprocessable Content";
      case 426 -> "Upgrade Required";
      case 428 -> "Precondition Required";
      case 429 -> "Too Many Requests";
      case HEADERS_TOO_LARGE -> "Request Header Fields Too Large";
      case INTERNAL_ERROR -> "Internal Server Error";
      case NOT_IMPLEMENTED -> "Not Implemented";
      case 502 -> "Bad Gateway";
      case UNAVAILABLE -> "Service Unavailable";
      case 504 -> "Gateway Timeout";
      case VERSION_NOT_SUPPORTED -> "HTTP Version Not Supported";
      default -> "";
    };
  }
}
