"""Vocabulary: what names of columns usually mean, in English, German, French and Spanish.

A name is parted into words at signs, digits and capitals, without accents. A phrase is found where
its words stand in the name one after the other, or are the whole name written as one. A word that
ends in `*` stands for all that begin so, one that begins with `*` for all that end so, as compounds
do; a phrase that begins with `=` must be the whole name. Phrases of one concept are parted by
commas.

What others see of a person is a quasi-identifier, be it of a special category as race is: a
sensitive column is published as it is, and would help them find a person.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum


class Hint(Enum):
    """What a name says of its column."""

    NAMES = "names a person"
    RECORD = "numbers records"
    PERSON = "numbers persons"
    TEXT = "free text"
    WEIGHT = "survey weight"
    SENSITIVE = "sensitive"
    LABEL = "class label"
    MEASURE = "score or measurement"
    KNOWN = "known to others"


@dataclass(frozen=True, slots=True)
class Concept:
    """Something that columns are about.

    Args:
        hint: What follows from it.
        title: It, as part of a sentence.
        phrases: Its names, parted by commas.
        nominal: Whether numbers in such a column are codes, without an order.
        special: Whether it is of a special category (GDPR article 9).
        lasting: Whether it stays the same of a person for life.
    """

    hint: Hint
    title: str
    phrases: str
    nominal: bool = False
    special: bool = False
    lasting: bool = False


AGE = Concept(
    Hint.KNOWN,
    "age",
    "age, ages, alter, lebensalter, edad, idade, eta, age years, alter jahre, age group, "
    "altersgruppe, tranche age, grupo edad",
)
BIRTH = Concept(
    Hint.KNOWN,
    "a date of birth",
    "birth, birthdate, birthday, dob, yob, born, geburt*, geb datum, gebdat, naissance, date "
    "naissance, nacimiento, fecha nacimiento",
    lasting=True,
)
POSTCODE = Concept(
    Hint.KNOWN,
    "a postal code",
    "zip, zipcode, zip code, postcode, post code, postal code, postal, plz, postleitzahl, code "
    "postal, codigo postal, pincode, pin code",
    nominal=True,
)
POSITION = Concept(
    Hint.KNOWN,
    "the place where somebody is",
    "latitude, longitude, =lat, =lon, =lng, breitengrad, laengengrad, langengrad, latitud, "
    "longitud, coordinate, coordinates, easting, northing",
)
EVENT = Concept(
    Hint.KNOWN,
    "the date of an event",
    "date, datum, fecha, timestamp, datetime, admission date, discharge date, aufnahmedatum, "
    "entlassungsdatum, eintrittsdatum, hire date, date embauche, fecha alta",
)

ADDRESS = Concept(
    Hint.NAMES,
    "an address",
    "address, home address, adresse, anschrift, wohnadresse, direccion, domicilio, street, "
    "street name, street address, strasse, rue, calle, house number, hausnummer, numero "
    "rue, apartment number, wohnungsnummer",
)
NAME = Concept(
    Hint.NAMES,
    "a name",
    "=name, =names, full name, first name, firstname, forename, given name, last name, lastname, "
    "surname, family name, middle name, maiden name, user name, fname, lname, vorname, vornamen, "
    "nachname, familienname, zuname, rufname, geburtsname, kundenname, patientenname, =nom, "
    "prenom, nom famille, nom complet, =nombre, =nombres, apellido, apellidos, nombre completo, "
    "initials, initialen",
)
PERSON = Concept(
    Hint.PERSON,
    "the number of a person",
    "person id, mrn, pid, uid, matrikelnummer, =person, =patient, =customer, =client, =subject, "
    "=participant, =respondent, =proband, =member, =user, =employee, =student",
)
FILE = Concept(
    Hint.PERSON,
    "the number of a case or an account",
    "case id, =account, =konto, =compte, =cuenta, =dossier, =expediente",
)
STAFF = Concept(Hint.NAMES, "the number of somebody beside the persons", "physician id")

# Of concepts that both fit a name, the earlier one counts.
CONCEPTS: Sequence[Concept] = (
    Concept(
        Hint.NAMES,
        "contact data",
        "email, e mail, mail, email address, mailadresse, courriel, correo, correo electronico, "
        "phone, telephone, phone number, telefon*, telefono, tel, mobile, mobile number, handy, "
        "handynummer, portable, movil, celular, cell phone, fax",
    ),
    Concept(
        Hint.NAMES,
        "an official number",
        "ssn, social security, social security number, sozialversicherungsnummer, "
        "sozialversicherung nr, svnr, numero securite sociale, securite sociale, nir, seguridad "
        "social, passport, passport number, passnummer, reisepass*, passeport, pasaporte, "
        "national id, id card, personalausweis*, ausweisnummer, carte identite, dni, nif, nie, "
        "curp, rfc, cpf, nino, insurance number, versicherungsnummer, krankenkassennr, tax id, "
        "tax number, steuernummer, steuer id, numero fiscal, iban, bic, bank account, cuenta "
        "bancaria, credit card number, card number, kreditkartennummer, kartennummer, numero "
        "carte, numero tarjeta, drivers license, driver license, driving licence, licence number, "
        "license number, fuehrerschein*, fuhrerschein*, permis conduire, license plate, number "
        "plate, kennzeichen, plaque immatriculation, immatriculation, matricula, vin, vehicle id, "
        "medical record number, nhs number, health plan number, matricule, cedula",
    ),
    Concept(
        Hint.NAMES,
        "a device or an account",
        "ip, ip address, ipaddress, ip adresse, adresse ip, direccion ip, mac address, device "
        "id, device, imei, imsi, cookie, cookie id, user agent, session id, username, user "
        "name, login, benutzername, nutzername, nom utilisateur, usuario, nickname, password, "
        "passwort, mot passe, contrasena, api key, token, url, homepage, website, twitter, "
        "facebook, instagram, linkedin",
    ),
    Concept(
        Hint.NAMES,
        "a picture or a print of a person",
        "photo, picture, image, foto, bild, portrait, signature, unterschrift, firma digital, "
        "fingerprint, fingerabdruck, huella, voice, iris scan",
    ),
    ADDRESS,
    NAME,
    PERSON,
    FILE,
    STAFF,
    Concept(
        Hint.TEXT,
        "free text",
        "comment, comments, remark, remarks, note, notes, description, free text, freetext, "
        "=text, =message, bemerkung, bemerkungen, kommentar, notiz, notizen, beschreibung, "
        "freitext, nachricht, anmerkung*, commentaire, commentaires, remarque, remarques, "
        "texte, comentario, comentarios, observacion, observaciones, nota, notas, descripcion, "
        "texto, mensaje, narrative, anamnese, anamnesis, =letter",
    ),
    Concept(
        Hint.WEIGHT,
        "a survey weight",
        "fnlwgt, finalwgt, final weight, wgt, wtfinl, pweight, person weight, perwt, asecwt, "
        "hhwt, household weight, instance weight, sample weight, sampling weight, survey "
        "weight, analysis weight, weighting factor, design weight, replicate weight, expansion "
        "factor, gewichtung*, gewichtungsfaktor, hochrechnungsfaktor, personengewicht, "
        "haushaltsgewicht, ponderation, coefficient ponderation, poids sondage, factor "
        "expansion, ponderacion, factor ponderacion",
    ),
    AGE,
    Concept(
        Hint.KNOWN,
        "where somebody was born",
        "country birth, birth country, native country, birthplace, birth place, place birth, "
        "geburtsort, geburtsland, lieu naissance, pays naissance, lugar nacimiento, pais "
        "nacimiento",
        nominal=True,
        lasting=True,
    ),
    BIRTH,
    POSTCODE,
    POSITION,
    EVENT,
    Concept(
        Hint.SENSITIVE,
        "health",
        "diagnos*, disease, diseases, illness*, icd, icd code, icd 9, icd 10, symptom*, syndrome, "
        "health, medical, medication*, medicine, drug, drugs, drug use, drug risk, therap*, "
        "treatment*, trt, off trt, substance, substance use, substance abuse, surgery, operation, "
        "hiv, aids, cancer, tumor*, tumour*, diabet*, depress*, psych*, mental, disab*, "
        "handicap*, pregnan*, abortion, smok*, smk*, cigar*, tobacco, alcohol*, drink*, allerg*, "
        "blood, blood type, blood pressure, cholesterol, glucose, hospital, cause death, vaccin*, "
        "covid, infect*, krank*, erkrank*, gesundheit*, behandlung*, befund*, medikament*, "
        "arznei*, schwanger*, behinder*, raucher, impf*, blutdruck, blutgruppe, treat, treated, "
        "arm, dose, dosage, =cd, hemo*, haemo*, hamo*, karno*, ecog, systolic, menopaus*, "
        "hormon*, estrogen*, lymph*, =nodes, metasta*, biops*, relaps*, remission*, transplant*, "
        "weight loss, wt loss, gewichtsverlust, meal cal, calorie*, kcal, nutri*, sbp, dbp, ldl, "
        "hdl, hba, pulse, cesd, phq, bdi, hads, mmse, moca, panss, pss, ptsd, diastolic, "
        "creatinin*, viral load, bmi, body mass index, blutzucker, todesursache, pflegegrad, "
        "maladie*, sante, traitement*, medicament*, handicape, enceinte, grossesse, fumeur, "
        "symptome, groupe sanguin, cause deces, enfermedad*, asthma*, stroke, heart, hypertens*, "
        "hepatit*, tubercul*, pneumon*, arthrit*, dement*, epileps*, migraine*, headache*, cough, "
        "coughing, pain, suicid*, addict*, sick, sickness, sick leave, sick days, sickle cell, "
        "chronic, chronically, chronisch*, chronique*, doctor, doctor visits, physician*, medic*, "
        "medec*, prescri*, presc, hosp, hospice*, hospitalis*, hospitaliz*, hospadm*, hospday*, "
        "hospstay*, arzt, aerzt*, schmerz*, sucht*, salud, tratamiento*, medicamento, embaraz*, "
        "fumador, discapacidad, minusvalia, sintoma*, grupo sanguineo, causa muerte",
        special=True,
    ),
    Concept(
        Hint.SENSITIVE,
        "religion or belief",
        "religio*, relig, church, faith, belief*, denomination, konfession*, glaube*, kirche*, "
        "confession, croyance*, culte, creencia*, culto, iglesia, muslim, christian, jewish, "
        "catholic, protestant",
        special=True,
    ),
    Concept(
        Hint.SENSITIVE,
        "politics or a trade union",
        "politic*, political, party, party membership, vote, voted, votes, voting, ballot, "
        "ideology, union, union member, trade union, labor union, partei*, politisch*, wahl, "
        "wahlentscheidung, stimme, gewerkschaft*, parti politique, politique, syndicat*, "
        "partido, politica, politico, voto, sindicato, sindical*",
        special=True,
    ),
    Concept(
        Hint.SENSITIVE,
        "sexual life",
        "sexual orientation, sexual, orientation, gender identity, transgender, sexuelle "
        "orientierung, sexualitat, sexualitaet, orientation sexuelle, orientacion sexual, "
        "identidad genero, std, sti, affair, extramarital, infidel*, adulter*, homosexual*, "
        "heterosexual*, bisexual*, lesbian, lgbt*, liaison, =homo, =gay, =msm",
        special=True,
    ),
    Concept(
        Hint.SENSITIVE,
        "genes",
        "gene, genes, genetic*, genotype, genome, dna, allele, mutation, snp, genetisch*, "
        "genetique, genetica, adn",
        special=True,
    ),
    Concept(
        Hint.SENSITIVE,
        "offences",
        "crime, criminal*, offence, offences, offense, offenses, conviction*, convicted, "
        "arrest*, prison, jail, sentence, recidiv*, priors, prior arrest, "
        "prior conviction, fraud, charge, charges, straf*, vorstrafe*, "
        "delikt*, verurteil*, delit, delito*, condamnation*, condena*, prision, casier "
        "judiciaire, antecedentes, violence, victim",
    ),
    Concept(
        Hint.SENSITIVE,
        "money",
        "income, incomes, salary, salaries, wage, wages, pay, payment, earning, earnings, "
        "compensation, bonus, wealth, asset, assets, net worth, capital, capital gain, capital "
        "loss, dividend, dividends, debt, debts, loan, loans, mortgage, credit, credit score, "
        "credit amount, credit limit, balance, savings, rent paid, tax, taxes, benefits, welfare, "
        "pension, poverty, finance, finances, financial, bankrupt*, insurance claim, expenditure, "
        "spending, einkommen*, gehalt, gehaelter, lohn, bezuege, verdienst, vermoegen, vermogen, "
        "schulden, kredit*, steuer*, rente, sozialhilfe, nettoeinkommen, bruttoeinkommen, umsatz, "
        "revenu, revenus, salaire*, remuneration, dette*, pret, impot, impots, patrimoine, "
        "prestation*, ingreso, ingresos, sueldo, salario*, renta, deuda*, prestamo*, impuesto*, "
        "patrimonio, nomina, hourly rate, daily rate, weekly rate, monthly rate, annual rate, pay "
        "rate, *einkommen, *bruttogehalt, *nettogehalt, *jahresgehalt, *monatsgehalt, "
        "*grundgehalt, *anfangsgehalt, *endgehalt, *festgehalt, *einstiegsgehalt, *zielgehalt, "
        "*lohn, *salary, *income, =stock, stock option, stocks, shares",
    ),
    Concept(
        Hint.SENSITIVE,
        "results of a test",
        "grade, grades, gpa, exam, exam result, exam score, test score, test result, marks, iq, "
        "assessment, performance rating, pruefung*, prufung*, zensur, schulnote, note examen, "
        "examen, calificacion*, puntaje, disciplinary, attendance",
    ),
    Concept(
        Hint.SENSITIVE,
        "an opinion given in confidence",
        "rating, rate *, =rate, opinion, opinions, attitude, satisfaction, satisfied, happiness, "
        "happy, meinung, zufriedenheit, einstellung, avis, satisfaccion, opinion politica",
    ),
    Concept(
        Hint.KNOWN,
        "race or ethnic origin",
        "race, races, ethnic*, ethn, hisp*, hispanic origin, latino, skin colo*, =white, "
        "=black, rasse, ethnie, ethnisch*, hautfarbe, origine ethnique, raza, etnia, origen "
        "etnico, indigena, indigenous, tribe, caste",
        nominal=True,
        lasting=True,
        special=True,
    ),
    Concept(
        Hint.KNOWN,
        "sex",
        "sex, gender, male, female, geschlecht, sexe, genre, sexo, genero, anrede, salutation",
        nominal=True,
        lasting=True,
    ),
    Concept(
        Hint.KNOWN,
        "a number of years, or of employers",
        "years, yrs, jahre, annees, anos, companies worked, employers",
    ),
    Concept(
        Hint.KNOWN,
        "how far somebody lives from a place",
        "commute, commuting, arbeitsweg, schulweg, trajet, distance home, distance from home, "
        "home distance, distance work, distance from work, work distance, distance school, "
        "distance from school, distance workplace, distance office, distance domicile, distance "
        "travail, entfernung wohn*, entfernung arbeit*, entfernung schule, distancia casa, "
        "distancia hogar, distancia trabajo",
    ),
    Concept(
        Hint.KNOWN,
        "where somebody lives or comes from",
        "city, town, municipality, village, county, state, province, region, district, country, "
        "nation*, citizenship, citizen, origin, =place, location, =area, neighborhood, "
        "neighbourhood, borough, parish, residence, stadt, =ort, wohnort, gemeinde, =kreis, "
        "landkreis, bundesland, =land, staat, herkunft*, staatsangehoerigkeit, "
        "staatsangehorigkeit, staatsburgerschaft, bezirk, ortsteil, ville, commune, "
        "departement, pays, nationalite, citoyennete, quartier, ciudad, municipio, provincia, "
        "pais, nacionalidad, ciudadania, barrio, localidad, comunidad, distrito, language, "
        "mother tongue, sprache, muttersprache, langue, langue maternelle, idioma, lengua, "
        "immigra*, migra*, census*, censo",
        nominal=True,
    ),
    Concept(
        Hint.KNOWN,
        "family and household",
        "marital, marital status, =single, married, marriage, civil status, spouse, partner, "
        "divorced, widowed, relationship, family, family size, household*, children, child, child "
        "number, kids, dependents, parents, parent, siblings, single parent, familienstand, "
        "ehestand, verheiratet, haushalt*, kinder, kinderzahl, anzahl kinder, familie*, eltern, "
        "etat civil, situation familiale, marie, menage, enfants, nombre enfants, famille, estado "
        "civil, casado, hogar, hijos, numero hijos, familia",
    ),
    Concept(
        Hint.KNOWN,
        "schooling",
        "education*, educ, educ level, =ed, degree, school, schooling, university, college, "
        "qualification, study, studies, major field, bildung*, schulabschluss, abschluss, "
        "schule, ausbildung*, studium, hochschule, universitaet, universitat, etudes, niveau "
        "etudes, diplome, ecole, formation, educacion, estudios, nivel estudios, escuela, "
        "titulo, escolaridad, literacy, literate, alphabet*, alfabet*",
    ),
    Concept(
        Hint.KNOWN,
        "work",
        "occupation*, profession*, job, job title, jobtitle, job role, employer, employment*, "
        "employed, unemployed, industry, =sector, =work, workclass, work class, worker, class "
        "worker, company, department, =position, =rank, labour force, labor force, beruf*, "
        "berufe, taetigkeit, tatigkeit, arbeitgeber, branche, firma, abteilung, stellung, "
        "beschaeftigung*, beschaftigung*, erwerbsstatus, metier, emploi, poste, entreprise, "
        "secteur, employeur, situation professionnelle, ocupacion, profesion, trabajo, empleo, "
        "empleador, empresa, sector actividad, puesto, cargo",
        nominal=True,
    ),
    Concept(
        Hint.KNOWN,
        "time at work",
        "tenure, years service, seniority, experience, working hours, work hours, hours per week, "
        "hours week, weekly hours, hours worked, weeks worked, wochenstunden, arbeitszeit, "
        "arbeitsstunden, heures travail, horas trabajo, dienstjahre, berufserfahrung, "
        "betriebszugehoerigkeit, anciennete, antiguedad, experiencia",
    ),
    Concept(
        Hint.KNOWN,
        "what a person looks like or owns",
        "height, body height, body weight, weight kg, groesse, grosse, korpergrosse, "
        "koerpergroesse, koerpergewicht, taille, altura, estatura, peso, eye colo*, hair colo*, "
        "augenfarbe, haarfarbe, housing, home ownership, dwelling, wohnung*, logement, "
        "vivienda, car, cars, vehicle, auto, veteran, military, militaer, militar, pet, pets, "
        "*area, acre*, hectare*, farm, *flaeche, *flache, superficie",
    ),
    Concept(
        Hint.MEASURE,
        "a score or a measurement",
        "score, scores, scale, index, ratio, percent*, pct, prob, probability, likelihood, risk, "
        "rate, mean, average, avg, sum, total, minimum, maximum, amount, measure*, reading, "
        "*score, *scale, *index, *ratio, *risk, days, *days, duration, elapsed, =time, "
        "tot, *tot, distance, quotient, "
        "anteil, quote, prozent, betrag, entfernung, distancia, *gehalt, "
        "messwert, punktzahl, dauer, risiko, taux, pourcentage, moyenne, montant, mesure, duree, "
        "risque, tasa, porcentaje, promedio, monto, importe, medida, puntuacion, duracion, riesgo",
    ),
    Concept(
        Hint.MEASURE,
        "an event that a study waits for, or that none was seen",
        "=event, =status, event status, event indicator, cens*, zensier*, follow up, followup",
    ),
)
