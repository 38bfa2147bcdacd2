import java.io.File;
import java.io.StringReader;
import java.nio.file.Files;
import java.nio.file.Path;
import javax.xml.XMLConstants;
import javax.xml.transform.stream.StreamSource;
import javax.xml.validation.SchemaFactory;
import javax.xml.validation.Validator;

/**
 * Validates documents with the JDK's Xerces: SCHEMA DOCUMENT...; prints a line
 * for each file, "ok" or what is wrong.
 */
public class Validate {
  public static void main(String[] files) throws Exception {
    var factory = SchemaFactory.newInstance(XMLConstants.W3C_XML_SCHEMA_NS_URI);
    factory.setFeature(XMLConstants.FEATURE_SECURE_PROCESSING, true);
    Validator validator = null;
    for (String file : files) {
      try {
        if (validator == null) {
          validator = factory.newSchema(new File(file)).newValidator();
        } else {
          String text = Files.readString(Path.of(file));
          validator.validate(new StreamSource(new StringReader(text)));
        }
        System.out.println("ok");
      } catch (Exception error) {
        System.out.println(String.valueOf(error.getMessage()).replace('\n', ' '));
        if (validator == null) return;
      }
    }
  }
}
