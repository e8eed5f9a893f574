package dev.weft.im;

import com.ibm.icu.lang.UCharacter;
import com.ibm.icu.lang.UProperty;
import com.ibm.icu.text.SpoofChecker;
import dev.weft.im.Refusal.Code;
import java.text.Normalizer;

/**
 * The names of users and rooms. Each has one form, NFKC of Unicode, and consists of what can be
 * seen. A new one must not mix scripts, and must not look like one that there is: two names that
 * are drawn alike have the same skeleton (Unicode Technical Standard 39).
 */
final class Names {
  private static final int LONGEST = 32;

  private static final SpoofChecker CHECKER =
      new SpoofChecker.Builder()
          .setChecks(
              SpoofChecker.RESTRICTION_LEVEL
                  | SpoofChecker.INVISIBLE
                  | SpoofChecker.MIXED_NUMBERS
                  | SpoofChecker.HIDDEN_OVERLAY)
          .setRestrictionLevel(SpoofChecker.RestrictionLevel.HIGHLY_RESTRICTIVE)
          .build();

  private Names() {}

  /**
   * Returns a name in the form that is stored.
   *
   * @throws Refusal if it is none
   */
  static String parse(String word) throws Refusal {
    String name = Normalizer.normalize(word, Normalizer.Form.NFKC);
    if (name.isEmpty()
        || !name.codePoints().allMatch(Names::isOfName)
        || isMark(name.codePointAt(0))) {
      throw Command.syntax(
          "a name must be letters, digits, '_', '-' and '.', at least one, all of them visible");
    }
    if (name.codePointCount(0, name.length()) > LONGEST) {
      throw new Refusal(Code.LIMIT, "a name must have at most " + LONGEST + " characters");
    }
    return name;
  }

  private static boolean isOfName(int character) {
    if (character < 0x80) {
      return Character.isLetterOrDigit(character)
          || character == '_'
          || character == '-'
          || character == '.';
    }
    return (Character.isLetterOrDigit(character) || isMark(character))
        && !UCharacter.hasBinaryProperty(character, UProperty.DEFAULT_IGNORABLE_CODE_POINT);
  }

  /** Returns whether it is drawn over or beside a letter, as vowels are in many scripts. */
  private static boolean isMark(int character) {
    int type = Character.getType(character);
    return type == Character.NON_SPACING_MARK || type == Character.COMBINING_SPACING_MARK;
  }

  /**
   * Checks the name of a user or room that is to be made.
   *
   * @throws Refusal if readers could take the name for another
   */
  static void checkNew(String name) throws Refusal {
    if (CHECKER.failsChecks(name)) {
      throw Command.syntax("a new name must be of one script, and of one kind of digits");
    }
  }

  /** Returns what names that look alike have in common. */
  static String skeleton(String name) {
    return CHECKER.getSkeleton(name);
  }
}
